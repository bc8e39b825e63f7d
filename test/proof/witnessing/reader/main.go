// Reads a folder of `counterfoil log export` with the packages of Go's checksum database
// (golang.org/x/mod/sumdb/note and tlog): of ours it has only the paths of the tiles and the
// form of a cosignature (c2sp.org/tlog-cosignature), which those packages do not have.
//
//	reader <folder> <key of the log> <keys of witnesses…>
package main

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

func main() {
	if err := read(os.Args[1], os.Args[2], os.Args[3:]); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func read(folder, logKey string, witnessKeys []string) error {
	own, err := note.NewVerifier(logKey)
	if err != nil {
		return fmt.Errorf("the key of the log: %w", err)
	}
	verifiers := []note.Verifier{own}
	for _, vkey := range witnessKeys {
		verifier, err := newWitness(vkey)
		if err != nil {
			return err
		}
		verifiers = append(verifiers, verifier)
	}
	text, err := os.ReadFile(filepath.Join(folder, "checkpoint"))
	if err != nil {
		return err
	}
	signed, err := note.Open(text, note.VerifierList(verifiers...))
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	if len(signed.Sigs) != len(verifiers) {
		return fmt.Errorf("checkpoint: %d of %d keys signed it", len(signed.Sigs), len(verifiers))
	}
	tree, err := treeIn(signed.Text, own.Name())
	if err != nil {
		return err
	}
	if err := readEntries(folder, tree); err != nil {
		return err
	}
	fmt.Printf("%s: %d entries, %d signatures\n", own.Name(), tree.N, len(signed.Sigs))
	return nil
}

// treeIn reads origin, size and root. tlog.ParseTree wants the origin of Go's own log.
func treeIn(text, origin string) (tlog.Tree, error) {
	if !strings.HasPrefix(text, origin+"\n") {
		return tlog.Tree{}, fmt.Errorf("checkpoint: not of %s", origin)
	}
	return tlog.ParseTree([]byte("go.sum database tree\n" + strings.TrimPrefix(text, origin+"\n")))
}

// readEntries proves every entry under the root by the hashes in the tiles.
func readEntries(folder string, tree tlog.Tree) error {
	hashes := tlog.TileHashReader(tree, tiles(folder))
	for first := int64(0); first < tree.N; first += width {
		count := tree.N - first
		if count > width {
			count = width
		}
		path := "tile/entries/" + tilePath(first/width, int(count))
		bundle, err := os.ReadFile(filepath.Join(folder, path))
		if err != nil {
			return err
		}
		for id := first; id < first+count; id++ {
			size := int(binary.BigEndian.Uint16(bundle))
			entry := bundle[2 : 2+size]
			bundle = bundle[2+size:]
			proof, err := tlog.ProveRecord(tree.N, id, hashes)
			if err != nil {
				return fmt.Errorf("entry %d: %w", id, err)
			}
			if err := tlog.CheckRecord(proof, tree.N, tree.Hash, id, tlog.RecordHash(entry)); err != nil {
				return fmt.Errorf("entry %d in %s: %w", id, path, err)
			}
		}
		if len(bundle) > 0 {
			return fmt.Errorf("%s: %d bytes too many", path, len(bundle))
		}
	}
	return nil
}

const (
	height = 8
	width  = 1 << height
)

// tiles reads hashes from the files of tlog-tiles.
type tiles string

func (tiles) Height() int { return height }

func (tiles) SaveTiles([]tlog.Tile, [][]byte) {}

func (folder tiles) ReadTiles(wanted []tlog.Tile) ([][]byte, error) {
	var found [][]byte
	for _, tile := range wanted {
		path := fmt.Sprintf("tile/%d/%s", tile.L, tilePath(tile.N, tile.W))
		bytes, err := os.ReadFile(filepath.Join(string(folder), path))
		if err != nil {
			return nil, err
		}
		found = append(found, bytes)
	}
	return found, nil
}

// tilePath is the number of a tile as tlog writes it, without the height in front.
func tilePath(n int64, w int) string {
	path := tlog.Tile{H: height, L: 0, N: n, W: w}.Path()
	return strings.TrimPrefix(path, "tile/8/0/")
}

// witness verifies cosignatures: eight bytes of time, and a signature over it and the note.
type witness struct {
	name string
	hash uint32
	key  ed25519.PublicKey
}

func newWitness(vkey string) (note.Verifier, error) {
	parts := strings.SplitN(vkey, "+", 3)
	if len(parts) != 3 {
		return nil, fmt.Errorf("%s: not a key", vkey)
	}
	hash, err := strconv.ParseUint(parts[1], 16, 32)
	if err != nil {
		return nil, err
	}
	key, err := base64.StdEncoding.DecodeString(parts[2])
	if err != nil || len(key) != 33 || key[0] != 4 {
		return nil, fmt.Errorf("%s: not a cosignature key", vkey)
	}
	return &witness{parts[0], uint32(hash), key[1:]}, nil
}

func (w *witness) Name() string    { return w.name }
func (w *witness) KeyHash() uint32 { return w.hash }

func (w *witness) Verify(msg, sig []byte) bool {
	if len(sig) != 8+ed25519.SignatureSize {
		return false
	}
	time := binary.BigEndian.Uint64(sig)
	signed := fmt.Sprintf("cosignature/v1\ntime %d\n%s", time, msg)
	return ed25519.Verify(w.key, []byte(signed), sig[8:])
}
