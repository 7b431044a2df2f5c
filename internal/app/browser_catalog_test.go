package app

import (
	"cmp"
	"encoding/json"
	"image"
	"image/png"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// looked is what a browser saw of a catalog's pages.
type looked struct {
	texts map[string]string // by page, what is read by roles
	shots string            // the folder of pictures of them
}

// look uses every page of a catalog, and leaves pictures in a folder.
func (p *pages) look(t *testing.T, s *server, shots string) (l looked) {
	t.Helper()
	l.shots = shots
	got := browse(t, s.url, "catalog.cjs", map[string]any{"parcel": p.parcel, "shots": l.shots, "patience": s == p.theirs})
	if err := json.Unmarshal(got.Out, &l.texts); err != nil {
		t.Fatal(err)
	}
	for page, text := range l.texts {
		l.texts[page] = strings.ReplaceAll(text, s.url, "{server}")
	}
	return l
}

// TestBrowserUsesTheCatalog uses every page of the catalog in the front end as
// a developer does: finds, reads, follows, registers, refreshes, unregisters.
// The same is done to a real Backstage's catalog of the same files, and both
// have to show the same.
func TestBrowserUsesTheCatalog(t *testing.T) {
	p := newPages(t)
	p.change("recommendations", "  lifecycle: experimental\n", "")
	p.refresh("recommendations", `"level":"error"`)
	p.change("cart", "Keeps what a customer means to buy.", "Keeps what somebody means to buy.") // which somebody asks for on the page
	var ours, theirs looked
	shots := filepath.Join(cmp.Or(os.Getenv("FAIRLEAD_SHOTS"), t.TempDir()), "catalog-")
	t.Run("both", func(t *testing.T) {
		t.Run("Fairlead", func(t *testing.T) { t.Parallel(); ours = p.look(t, p.ours, shots+"fairlead") })
		t.Run("Backstage", func(t *testing.T) { t.Parallel(); theirs = p.look(t, p.theirs, shots+"backstage") })
	})
	if len(ours.texts) < 45 || len(theirs.texts) != len(ours.texts) {
		t.Fatalf("%d pages were seen, and %d of Backstage's", len(ours.texts), len(theirs.texts))
	}
	said := ours.texts["said"]
	for _, text := range []string{"recommendations/catalog-info.yaml:22:1: spec.lifecycle is missing", "lifecycle", "Shown is the last good state, from before commit"} {
		if !strings.Contains(said, text) {
			t.Errorf("the errors of a broken file are shown as %s", said)
		}
	}
	for _, page := range slices.Sorted(maps.Keys(theirs.texts)) {
		compareTexts(t, page, ours.texts[page], theirs.texts[page])
		comparePictures(t, filepath.Join(ours.shots, page+".png"), filepath.Join(theirs.shots, page+".png"))
	}
	for action, target := range map[string]string{"catalog.refresh": "component:default/cart", "catalog.register": p.parcel, "catalog.unregister": p.parcel} {
		a := p.ours.send("sre", http.MethodGet, "/api/v1/audit?subject=user:default/alice&action="+action, "")
		if !strings.Contains(a.body, target) {
			t.Errorf("the audit of %s lacks %s: %s", action, target, a.body)
		}
	}
}

// differing are the pages that show something else on purpose, and why.
func differing() map[string]string {
	return map[string]string{
		"said":   "Fairlead's own texts, with file, line and fix",
		"errors": "the same",
	}
}

// compareTexts holds what a page shows of Fairlead against what it shows of
// Backstage.
func compareTexts(t *testing.T, page, ours, theirs string) {
	t.Helper()
	if _, differs := differing()[page]; differs {
		if ours == theirs {
			t.Errorf("%s shows no difference any more; take it from the list", page)
		}
		return
	}
	o, b := linesOf(page, ours), linesOf(page, theirs)
	if slices.Equal(o, b) {
		return
	}
	t.Errorf("%s differs; Fairlead alone shows\n%s\nBackstage alone shows\n%s", page, alone(o, b), alone(b, o))
}

// alone are the first lines that others do not hold, as often.
func alone(lines, others []string) string {
	left := map[string]int{}
	for _, l := range others {
		left[l]++
	}
	var out []string
	for _, l := range lines {
		if left[l]--; left[l] < 0 {
			out = append(out, l)
		}
	}
	return strings.Join(out[:min(len(out), 20)], "\n")
}

// linesOf is a page's text by lines, less what differs by nature: uids and
// etags, and the Locations that Backstage makes of configured files. Where the
// order is that of uids or of an entity's members, it does not count.
func linesOf(page, text string) []string {
	text = regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`).ReplaceAllString(text, "{uid}")
	if strings.HasPrefix(page, "inspector") {
		text = regexp.MustCompile(`(?m)^ *- listitem:\n *- link "generated-.*\n.*generated-.*$`).ReplaceAllString(text, "")
		text = regexp.MustCompile(` ?generated-[0-9a-f]{40}`).ReplaceAllString(text, "")
		text = regexp.MustCompile(`\b[0-9a-f]{40}\b`).ReplaceAllString(text, "{etag}")
	}
	if strings.HasPrefix(page, "inspector Raw") {
		text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" ,{}", r) }), "\n")
	}
	var lines []string
	for l := range strings.Lines(text) {
		if l = strings.TrimSpace(l); l != "" {
			lines = append(lines, l)
		}
	}
	if !strings.HasPrefix(page, "index") && !strings.HasPrefix(page, "apis") {
		slices.Sort(lines)
	}
	return lines
}

// comparePictures holds two pictures of a page against each other from afar:
// neither is empty, and few parts are much lighter or darker in one. Fonts and
// figures may differ.
func comparePictures(t *testing.T, ours, theirs string) {
	t.Helper()
	if filepath.Base(ours) == "said.png" {
		return
	}
	o, b := fromAfar(t, ours), fromAfar(t, theirs)
	if slices.Max(o) == slices.Min(o) {
		t.Errorf("there is nothing on %s", ours)
	}
	other := 0
	for i := range o {
		if max(o[i], b[i])-min(o[i], b[i]) > 32 {
			other++
		}
	}
	if len(o) != len(b) || other*10 > len(o) {
		t.Errorf("%d of %d parts of %s look other than in %s", other, len(o), ours, theirs)
	}
}

// fromAfar is a picture in parts of 50 by 50 points: how light each is, to 255.
func fromAfar(t *testing.T, file string) []int {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	const part = 50
	var out []int
	for y := img.Bounds().Min.Y; y+part <= img.Bounds().Max.Y; y += part {
		for x := img.Bounds().Min.X; x+part <= img.Bounds().Max.X; x += part {
			out = append(out, lightness(img, image.Rect(x, y, x+part, y+part)))
		}
	}
	return out
}

// lightness is the mean of points here and there in a part of a picture, to 255.
func lightness(img image.Image, part image.Rectangle) int {
	sum, points := 0, 0
	for y := part.Min.Y; y < part.Max.Y; y += 5 {
		for x := part.Min.X; x < part.Max.X; x += 5 {
			r, g, b, _ := img.At(x, y).RGBA()
			sum, points = sum+int(r+g+b)/3>>8, points+1
		}
	}
	return sum / points
}
