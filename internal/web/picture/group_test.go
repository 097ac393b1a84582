package picture

import (
	"strings"
	"testing"
)

func TestEqualSiblingsShareABox(t *testing.T) {
	boxes, links := newGraph(fanOut(400)).boxes()
	if len(boxes) != 4 || len(links) != 3 {
		t.Fatalf("%d boxes, %d links", len(boxes), len(links))
	}
	if svg := string(DAG(lang, fanOut(400))); !strings.Contains(svg, "render × 400") || !strings.Contains(svg, "8 failed, 19 running, 373 done") {
		t.Error("the box of the group does not say what is in it")
	}
}

func TestChainsOfEqualShapeShareBoxes(t *testing.T) {
	boxes, links := newGraph(chains(300)).boxes()
	if len(boxes) != 3 || len(links) != 2 {
		t.Errorf("%d boxes, %d links", len(boxes), len(links))
	}
}

func TestSmallGraphsShowEveryTask(t *testing.T) {
	if boxes, _ := newGraph(fanOut(groupFrom - 3)).boxes(); len(boxes) != groupFrom {
		t.Errorf("%d boxes of %d tasks", len(boxes), groupFrom)
	}
}

func TestDifferentServicesStayApart(t *testing.T) {
	g := fanOut(40)
	for i := range g.Tasks {
		if i%2 == 0 && g.Tasks[i].Service == "render" {
			g.Tasks[i].Service = "denoise"
		}
	}
	if boxes, _ := newGraph(g).boxes(); len(boxes) != 5 {
		t.Errorf("%d boxes, want split, two groups, join, upload", len(boxes))
	}
}

func TestCauseOfASkipIsMarked(t *testing.T) {
	_, links := newGraph(smallGraph()).boxes()
	n := 0
	for _, l := range links {
		if l.cause {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d links are causes, want lint → report only", n)
	}
}
