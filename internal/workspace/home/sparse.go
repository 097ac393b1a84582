package home

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// part is where a sparse file has data.
type part struct{ at, length int64 }

// sparse packs a file without its holes, as GNU tar does in its format 1.0: the content
// begins with the list of its parts. Package tar reads that and does not write it.
func (p *packer) sparse(f *os.File, h *tar.Header, parts []part) error {
	if last := parts[len(parts)-1]; last.at+last.length < h.Size {
		parts = append(parts, part{h.Size, 0}) // says how long the file is
	}
	var list bytes.Buffer
	fmt.Fprintf(&list, "%d\n", len(parts))
	stored := int64(0)
	for _, x := range parts {
		fmt.Fprintf(&list, "%d\n%d\n", x.at, x.length)
		stored += x.length
	}
	pad(&list)
	stored += int64(list.Len())

	records := map[string]string{
		"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": h.Name, "GNU.sparse.realsize": strconv.FormatInt(h.Size, 10),
		"size": strconv.FormatInt(stored, 10), "uid": strconv.Itoa(h.Uid), "gid": strconv.Itoa(h.Gid), "mtime": stamp(h.ModTime),
	}
	for k, v := range h.PAXRecords {
		records[k] = v
	}
	if err := p.tar.Flush(); err != nil {
		return err
	}
	if err := p.extended(records); err != nil {
		return err
	}
	head, err := block(tar.TypeReg, "GNUSparseFile.0/"+strconv.FormatInt(p.sum.Entries, 10), h.Mode, stored)
	if err != nil {
		return err
	}
	if _, err := p.out.Write(append(head, list.Bytes()...)); err != nil {
		return err
	}
	for _, x := range parts {
		if err := copyExactly(p.out, io.NewSectionReader(f, x.at, x.length), x.length); err != nil {
			return err
		}
	}
	_, err = p.out.Write(make([]byte, gap(stored)))
	return err
}

// extended writes a header of records, which are about the entry that follows.
func (p *packer) extended(records map[string]string) error {
	var text bytes.Buffer
	for _, k := range slices.Sorted(maps.Keys(records)) {
		text.WriteString(record(k, records[k]))
	}
	size := int64(text.Len())
	pad(&text)
	head, err := block(tar.TypeXHeader, "PaxHeaders.0/"+strconv.FormatInt(p.sum.Entries, 10), 0o644, size)
	if err != nil {
		return err
	}
	_, err = p.out.Write(append(head, text.Bytes()...))
	return err
}

// stamp is a time as a record has it, to the nanosecond. Before 1970 it counts back.
func stamp(t time.Time) string {
	second, nano := t.Unix(), t.Nanosecond()
	if second < 0 && nano > 0 {
		return fmt.Sprintf("-%d.%09d", -(second + 1), int(time.Second)-nano)
	}
	return fmt.Sprintf("%d.%09d", second, nano)
}

// record is a line that begins with its own length.
func record(k, v string) string {
	body := len(k) + len(v) + len(" =\n")
	size := body + len(strconv.Itoa(body))
	if size != body+len(strconv.Itoa(size)) {
		size++
	}
	return strconv.Itoa(size) + " " + k + "=" + v + "\n"
}

const blockSize = 512

// block is a plain header. What does not fit into one stands in records.
func block(flag byte, name string, mode, size int64) ([]byte, error) {
	var b bytes.Buffer
	if size > 1<<33-1 {
		size = 0
	}
	if err := tar.NewWriter(&b).WriteHeader(&tar.Header{Format: tar.FormatUSTAR, Typeflag: tar.TypeReg, Name: name, Mode: mode, Size: size}); err != nil {
		return nil, err
	}
	head := b.Bytes()
	head[156] = flag
	copy(head[148:156], strings.Repeat(" ", 8))
	sum := 0
	for _, c := range head {
		sum += int(c)
	}
	copy(head[148:156], fmt.Sprintf("%06o\x00 ", sum))
	return head, nil
}

func gap(size int64) int64 { return (blockSize - size%blockSize) % blockSize }

func pad(b *bytes.Buffer) { b.Write(make([]byte, gap(int64(b.Len())))) }
