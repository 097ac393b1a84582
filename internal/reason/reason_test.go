package reason

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

var place = regexp.MustCompile(`\{[^}]*\}`)

// places are the places of a sentence, in order of their names: languages order words
// differently.
func places(text string) string {
	found := place.FindAllString(text, -1)
	slices.Sort(found)
	return strings.Join(found, " ")
}

func TestLanguagesSayTheSame(t *testing.T) {
	for language, words := range tables {
		for code, text := range tables[Default] {
			own, ok := words[code]
			switch base := strings.TrimSuffix(code, ".one"); {
			case !ok:
				t.Errorf("%s has no %s", language, code)
			case places(own) != places(text) && places(own) != places(tables[Default][base]):
				t.Errorf("%s in %s has places %s, want %s", code, language, places(own), places(text))
			}
		}
		for code := range words {
			if _, ok := tables[Default][code]; !ok {
				t.Errorf("%s of %s is no code", code, language)
			}
		}
	}
}

// Words of ours have no Latin letters in Korean; what stands in a place may: it is a name.
func TestKoreanIsKorean(t *testing.T) {
	latin := regexp.MustCompile(`[A-Za-z]+`)
	for code, text := range tables["ko"] {
		if strings.HasPrefix(code, "command.") {
			continue
		}
		if rest := strings.ReplaceAll(place.ReplaceAllString(text, ""), "PC", ""); latin.MatchString(rest) {
			t.Errorf("%s: %s", code, text)
		}
	}
}

func TestSay(t *testing.T) {
	node := map[string]any{"code": "node_asleep", "name": "r1"}
	for _, c := range []struct {
		code       string
		args       map[string]any
		en, korean string
	}{
		{"pool_full", map[string]any{"pool": "gpu", "used": 2.0, "size": 2.0}, "pool gpu is full: 2 of 2 places are taken", "풀 gpu: 가득 참, 2자리 중 2자리 사용 중"},
		{"pool_stopped", map[string]any{"step": "m"}, "the limit of m is stopped: its size is 0", "단계 m의 한도: 멈춤, 크기가 0입니다"},
		{"no_worker", map[string]any{"service": "render", "node": node}, "no live worker serves render: node r1 could and sleeps; it is about to be woken", "서비스 render를 맡은 살아 있는 워커가 없습니다: 노드 r1에서 할 수 있지만 잠들어 있으며 곧 깨웁니다"},
		{"not_before", map[string]any{"at": "2026-11-17T23:16:24.5Z", "in": 5400.0}, "not before 2026-11-17 23:16:24 UTC, in 1h 30m", "2026-11-17 23:16:24 UTC 이후에 시작합니다, 1시간 30분 남음"},
		{"queued", map[string]any{"n": 1.0, "service": "s", "ahead": 0.0}, "1 live worker for s; 0 tasks come first", "서비스 s의 살아 있는 워커 1개; 앞선 작업 수 0"},
		{"queued", map[string]any{"n": 2.0, "service": "s", "ahead": 1.0}, "2 live workers for s; 1 task comes first", "서비스 s의 살아 있는 워커 2개; 앞선 작업 수 1"},
		{"queued", map[string]any{"n": 2.0, "service": "s", "ahead": map[string]any{"code": "over", "n": 1000.0}}, "2 live workers for s; over 1000 tasks come first", "서비스 s의 살아 있는 워커 2개; 앞선 작업 수 1000 초과"},
		{"needs_ended", map[string]any{"needs": 1.0}, "1 need has ended", "선행 작업 1개가 끝났습니다"},
		{"needs_ended", map[string]any{"needs": 2.0}, "2 needs have ended", "선행 작업 2개가 모두 끝났습니다"},
		{"set_aside", map[string]any{"error": "x", "tries": 1.0, "next": "2026-11-17T23:16:24Z"}, "it could not be moved and was set aside: x; tried once, again at 23:16:24 UTC", "옮길 수 없어 따로 두었습니다: x; 시도 1회, 다음 시도 23:16:24 UTC"},
		{"pc_full", map[string]any{"pc": "PC-01", "slots": 1.0}, "PC-01: its only slot is taken", "PC-01: 하나뿐인 슬롯을 사용 중"},
		{"lost_before", map[string]any{"n": 2.0, "counted": 1.0, "most": 3.0}, "2 workers were lost while they ran this; 1 of these losses counts, 3 end it", "실행 중에 워커 2개를 잃었습니다. 그중 1번이 집계되며, 3번이면 실패로 끝납니다"},
		{"held", map[string]any{"hold": "{pool} [x]"}, "held by {pool} [x]", "보류됨: {pool} [x]"},
		{"released", nil, "released", "보류 해제됨"},
		{"held", nil, "held by ?", "보류됨: ?"},
		{"floor_hidden", map[string]any{"number": 1.0, "floor": 2.0}, "hidden: its number 1 is below the floor 2 of its class, and no claim looks there; an operator brings it back with select weir.repair_floors()", "숨겨짐: 번호 1번이 분류의 하한 2보다 낮아 아무도 찾지 않습니다; 운영자가 다음 명령으로 되돌립니다: select weir.repair_floors()"},
		{"of_a_newer_database", nil, "", ""},
	} {
		for language, want := range map[string]string{"en": c.en, "ko": c.korean, "xx": c.en} {
			if got := Say(language, c.code, c.args); got != want {
				t.Errorf("%s in %s: %q, want %q", c.code, language, got, want)
			}
		}
	}
	if got := (&Coded{Code: "of_a_newer_database"}).In("ko", "its text"); got != "its text" {
		t.Errorf("a code that is not known: %q", got)
	}
}

func TestSpan(t *testing.T) {
	for seconds, want := range map[float64]string{0: "0ms", 0.57: "570ms", 1: "1s", 59.9: "59s", 60: "1m", 61: "1m 1s", 3600: "1h", 5430: "1h 30m", 86400: "1d", 100000: "1d 3h", -0.5: "-500ms"} {
		if got := speaker(Default).span(seconds); got != want {
			t.Errorf("%v: %s, want %s", seconds, got, want)
		}
	}
}

// A sentence that begins with a name is not to be capitalized.
func TestNamed(t *testing.T) {
	for code, want := range map[string]bool{
		"lane_taken": true, "canceled_by": true, "pc_full": true, "held": false, "pool_full": false, "fleet_stands": false, "of_a_newer_database": false,
	} {
		if Named("en", code) != want {
			t.Errorf("%s: %t", code, !want)
		}
	}
}
