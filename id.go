package weir

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"

	"github.com/jackc/pgx/v5/pgtype"
)

// ID names a task or a job, or is the token of a lease. IDs of tasks and jobs
// are UUIDv7, so they sort by the time of submission. The zero ID is none.
type ID [16]byte

// ParseID reads the usual form of a UUID.
func ParseID(s string) (ID, error) {
	var id ID
	err := id.UnmarshalText([]byte(s))
	return id, err
}

// newToken makes a random UUID (version 4).
func newToken() ID {
	var id ID
	_, _ = rand.Read(id[:]) // never fails
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	return id
}

// IsZero reports whether id is none.
func (id ID) IsZero() bool { return id == ID{} }

// String is the usual form of a UUID.
func (id ID) String() string {
	text, _ := id.MarshalText() // never fails
	return string(text)
}

// MarshalText implements [encoding.TextMarshaler].
func (id ID) MarshalText() ([]byte, error) {
	text := make([]byte, 36)
	hex.Encode(text[0:8], id[0:4])
	hex.Encode(text[9:13], id[4:6])
	hex.Encode(text[14:18], id[6:8])
	hex.Encode(text[19:23], id[8:10])
	hex.Encode(text[24:36], id[10:16])
	text[8], text[13], text[18], text[23] = '-', '-', '-', '-'
	return text, nil
}

// UnmarshalText implements [encoding.TextUnmarshaler].
func (id *ID) UnmarshalText(text []byte) error {
	if len(text) != 36 || text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-' {
		return fmt.Errorf("weir: %q is not an id: expected a UUID such as 01890a5d-ac96-774b-bcce-b302099a8057", text)
	}
	digits := append(append(append(append(append(make([]byte, 0, 32), text[:8]...), text[9:13]...), text[14:18]...), text[19:23]...), text[24:]...)
	if _, err := hex.Decode(id[:], digits); err != nil {
		return fmt.Errorf("weir: %q is not an id: %w", text, err)
	}
	return nil
}

// UUIDValue implements [pgtype.UUIDValuer]. The zero ID is NULL.
func (id ID) UUIDValue() (pgtype.UUID, error) {
	return pgtype.UUID{Bytes: id, Valid: !id.IsZero()}, nil
}

// ScanUUID implements [pgtype.UUIDScanner]. NULL is the zero ID.
func (id *ID) ScanUUID(v pgtype.UUID) error {
	*id = ID{}
	if v.Valid {
		*id = v.Bytes
	}
	return nil
}
