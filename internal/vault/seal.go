package vault

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"fmt"
	"strconv"

	"github.com/weirhq/weir/internal/problem"
)

// format is the first byte of sealed data, so that another format can follow.
const format = 1

// seal returns format, nonce and ciphertext. A nonce is random: a key may seal four
// thousand million secrets before two nonces are likely to be equal.
func (k key) seal(name string, version int, value string) ([]byte, error) {
	box, err := k.box()
	if err != nil {
		return nil, err
	}
	out := make([]byte, 1+box.NonceSize(), 1+box.NonceSize()+len(value)+box.Overhead())
	out[0] = format
	_, _ = rand.Read(out[1:])                                               // never fails
	return box.Seal(out, out[1:], []byte(value), bound(name, version)), nil // #nosec G407 -- the nonce was filled a line above
}

// open undoes seal. Data that was changed, or belongs to another name or version, does
// not open.
func (k key) open(name string, version int, sealed []byte) (string, error) {
	box, err := k.box()
	if err != nil {
		return "", err
	}
	if len(sealed) < 1+box.NonceSize() || sealed[0] != format {
		return "", broken(name)
	}
	value, err := box.Open(nil, sealed[1:1+box.NonceSize()], sealed[1+box.NonceSize():], bound(name, version))
	if err != nil {
		return "", broken(name)
	}
	return string(value), nil
}

func (k key) box() (cipher.AEAD, error) {
	block, err := aes.NewCipher(k.bits[:])
	if err != nil {
		return nil, fmt.Errorf("make a cipher: %w", err)
	}
	return cipher.NewGCM(block)
}

// bound returns the additional data that is sealed with the value.
func bound(name string, version int) []byte {
	return []byte("weir secret\x00" + name + "\x00" + strconv.Itoa(version))
}

func broken(name string) error {
	return problem.New(problem.Failed, "somebody changed its row, or the key file: set it again with weir secret set "+name, "secret %s does not open", name)
}
