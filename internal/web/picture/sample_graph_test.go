package picture

import "fmt"

func smallGraph() Graph {
	return Graph{Title: "Job nightly-build", Tasks: []Task{
		{Key: "checkout", Service: "git", State: Done, Attempt: 1, Href: "/tasks/1"},
		{Key: "compile", Service: "build", State: Done, Attempt: 2, Href: "/tasks/2"},
		{Key: "lint", Service: "build", State: Failed, Attempt: 3, Href: "/tasks/3", Note: "exit status 1: 14 findings"},
		{Key: "unit-tests", Service: "test", State: Running, Attempt: 1, Percent: 62, Href: "/tasks/4"},
		{Key: "integration", Service: "test", State: Pending, Gate: "pool", Href: "/tasks/5"},
		{Key: "report", Service: "notify", State: Skipped, Href: "/tasks/6"},
		{Key: "publish", Service: "release", State: Pending, Gate: "needs", Href: "/tasks/7"},
		{Key: "clean-up", Service: "git", State: Available, Href: "/tasks/8"},
		{Key: "announce", Service: "notify", State: Canceled, Href: "/tasks/9"},
	}, Edges: [][2]int{{0, 1}, {0, 2}, {1, 3}, {1, 4}, {2, 5}, {3, 6}, {4, 6}, {0, 7}, {5, 8}, {1, 6}}}
}

func fanOut(n int) Graph {
	g := Graph{Title: "Job film-204", GroupHref: func(s string) string { return "/tasks?service=" + s }}
	g.Tasks = append(g.Tasks, Task{Key: "split", Service: "split", State: Done, Href: "/tasks/split"})
	for i := range n {
		s := Done
		switch {
		case i%50 == 7:
			s = Failed
		case i > n-20:
			s = Running
		}
		g.Tasks = append(g.Tasks, Task{Key: fmt.Sprintf("frame-%04d", i), Service: "render", State: s})
		g.Edges = append(g.Edges, [2]int{0, i + 1}, [2]int{i + 1, n + 1})
	}
	g.Tasks = append(g.Tasks, Task{Key: "join", Service: "encode", State: Pending, Gate: "needs"}, Task{Key: "upload", Service: "store", State: Pending, Gate: "needs"})
	g.Edges = append(g.Edges, [2]int{n + 1, n + 2})
	return g
}

func longEdges() Graph {
	g := Graph{Title: "Job model-train"}
	for i, k := range []string{"config", "fetch", "clean", "split", "features", "train-a", "train-b", "train-c", "compare", "pick", "export", "card", "deploy"} {
		s := Done
		if i > 6 {
			s = Pending
		}
		if i == 6 || i == 7 {
			s = Running
		}
		g.Tasks = append(g.Tasks, Task{Key: k, Service: "ml", State: s, Gate: "needs", Percent: 30 * (i - 5), Href: "/tasks/" + k})
	}
	g.Edges = [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {4, 6}, {4, 7}, {5, 8}, {6, 8}, {7, 8}, {8, 9}, {9, 10}, {9, 11}, {10, 12}, {11, 12}, {0, 5}, {0, 12}, {3, 8}, {0, 4}, {1, 11}}
	return g
}

// mesh is n tasks of different services: nothing to group.
func mesh(n int) Graph {
	g := Graph{Title: "Job wide-mesh"}
	words := []string{"ingest", "parse", "validate", "enrich", "geo-code", "join", "score", "rank"}
	states := []State{Done, Done, Done, Done, Running, Available, Pending, Failed, Skipped}
	per := n / 8
	for i := range n {
		layer := i / per
		g.Tasks = append(g.Tasks, Task{Key: fmt.Sprintf("%s-%03d", words[layer%8], i), Service: fmt.Sprintf("s%d", i), State: states[(i*7+layer)%len(states)], Gate: "needs", Percent: 40, Href: "/tasks/x"})
		if layer > 0 {
			g.Edges = append(g.Edges, [2]int{i - per, i})
			if i%3 == 0 {
				g.Edges = append(g.Edges, [2]int{(layer-1)*per + (i*5)%per, i})
			}
			if layer > 2 && i%11 == 0 {
				g.Edges = append(g.Edges, [2]int{(layer-3)*per + (i*3)%per, i})
			}
		}
	}
	return g
}

func manyParts() Graph {
	g := Graph{Title: "Job odds-and-ends", More: 8000}
	for i := range 9 {
		g.Tasks = append(g.Tasks, Task{Key: fmt.Sprintf("t%d", i), Service: "svc", State: States[i%len(States)], Gate: "time"})
	}
	g.Edges = [][2]int{{0, 1}, {1, 2}, {3, 4}}
	return g
}

func chains(n int) Graph {
	g := Graph{Title: "Job chains"}
	for i := range n {
		g.Tasks = append(g.Tasks, Task{Key: fmt.Sprintf("fetch-%d", i), Service: "fetch", State: Done},
			Task{Key: fmt.Sprintf("render-%d", i), Service: "render", State: Running},
			Task{Key: fmt.Sprintf("store-%d", i), Service: "store", State: Pending, Gate: "needs"})
		g.Edges = append(g.Edges, [2]int{3 * i, 3*i + 1}, [2]int{3*i + 1, 3*i + 2})
	}
	return g
}

func awkwardText() Graph {
	return Graph{Title: `<b>"quotes" & 한국어</b>`, Tasks: []Task{
		{Key: "데이터베이스-백업-및-검증-작업-001", Service: "백업서비스", State: Running, Percent: 12, Attempt: 4},
		{Key: "גיבוי-מסד-נתונים-ואימות-של-כל-הטבלאות", Service: "שירות", State: Done},
		{Key: `<script>alert("x")</script>`, Service: "a&b", State: Failed, Href: "javascript:alert(1)"},
		{Key: "a-very-long-key-that-nobody-can-read-in-one-glance-0381", Service: "service-with-a-long-name-too", State: Pending, Gate: "exclusion"},
		{Key: "WWWWWWWWWWWWWWWWWWWWWWWWW", Service: "MMMMMMMMMMMMMMMMMMMMMMM", State: "frobnicated"},
		{State: Available},
	}, Edges: [][2]int{{0, 1}, {1, 2}, {0, 3}, {3, 4}, {4, 5}}}
}

func cycle() Graph {
	return Graph{Title: "A cycle", Tasks: []Task{{Key: "a", State: Pending}, {Key: "b", State: Pending}, {Key: "c", State: Pending}}, Edges: [][2]int{{0, 1}, {1, 2}, {2, 0}, {1, 1}, {0, 1}, {7, 9}}}
}
