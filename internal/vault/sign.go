package vault

import (
	"crypto/hmac"
	"crypto/sha256"
)

// Sign returns a signature of data by the first key, for one purpose: a signature for
// another does not fit. The key that signs is derived, so it opens no secret.
func (v *Vault) Sign(purpose string, data []byte) ([]byte, error) {
	keys := v.current()
	if len(keys.keys) == 0 {
		return nil, keys.none()
	}
	return keys.keys[0].sign(purpose, data), nil
}

// Signed reports whether a signature of data for a purpose was made by one of the keys.
func (v *Vault) Signed(purpose string, data, signature []byte) bool {
	for _, k := range v.current().keys {
		if hmac.Equal(k.sign(purpose, data), signature) {
			return true
		}
	}
	return false
}

func (k key) sign(purpose string, data []byte) []byte {
	own := hmac.New(sha256.New, k.bits[:])
	own.Write([]byte("weir signature\x00" + purpose))
	h := hmac.New(sha256.New, own.Sum(nil))
	h.Write(data)
	return h.Sum(nil)
}
