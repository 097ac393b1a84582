package rollout

import (
	"strings"
	"testing"
)

// What the run did goes into the kept schema, what others did stays out of it.
func TestFollow(t *testing.T) {
	const a, b, c = "table public.a\n  column id integer\n", "table public.b\n  column id integer\n", "table public.c\n  column id integer\n"
	const f1, f2, f3 = "CREATE OR REPLACE FUNCTION public.f()\n$1$\n", "CREATE OR REPLACE FUNCTION public.f()\n$2$\n", "CREATE OR REPLACE FUNCTION public.f()\n$3$\n"
	for name, x := range map[string]struct{ base, before, now, want string }{
		"a table by hand, another by the run":  {a, a + b, a + b + c, a + c},
		"the run's sorts before":               {b, b + c, a + b + c, a + b},
		"dropped by hand, another by the run":  {a + b, b, b + c, a + b + c},
		"dropped by the run":                   {a + b, a + b + c, a + c, a},
		"both columns in one table":            {a, a + "  column by_hand text\n", a + "  column by_hand text\n  column ours text\n", a + "  column ours text\n"},
		"a column dropped by hand":             {a + "  column x text\n", a, a + "  column ours text\n", a + "  column x text\n  column ours text\n"},
		"a column dropped by the run":          {a + "  column x text\n", a + "  column x text\n" + b, a + b, a},
		"by hand made, changed by the run":     {a, a + b, a + b + "  column ours text\n", a},
		"by hand removed, made by the run":     {a + b, a, a + b, a + b},
		"a function only by the run":           {a + f1, a + b + f1, a + b + f2, a + f2},
		"a function by hand, then by the run":  {f1, f2, f3, f3},
		"the run put back what others changed": {a + f1, a + f2, a + f1, a + f1},
		"nothing":                              {a, a + b, a + b, a},
		"in a database that was empty":         {"", b, b + c, c},
		"of MariaDB": {
			"CREATE TABLE `a` (\n  `id` int\n);\n", "CREATE TABLE `a` (\n  `id` int\n);\nCREATE TABLE `hand` (\n  `id` int\n);\n",
			"CREATE TABLE `a` (\n  `id` int\n);\nCREATE TABLE `b` (\n  `id` int\n);\nCREATE TABLE `hand` (\n  `id` int\n);\n", "CREATE TABLE `a` (\n  `id` int\n);\nCREATE TABLE `b` (\n  `id` int\n);\n",
		},
	} {
		if got := strings.Join(merge(x.base, x.before, x.now), "\n") + "\n"; got != x.want {
			t.Errorf("%s:\n%s\nwanted:\n%s", name, got, x.want)
		}
	}
}

// What begins an object is told from what belongs to one.
func TestParts(t *testing.T) {
	for line, want := range map[string]string{
		"table public.a with (fillfactor=50)":                                           "table public.a",
		"  column id integer":                                                           "",
		"constraint a_pkey on public.a PRIMARY KEY (id)":                                "constraint a_pkey on public.a",
		"CREATE UNIQUE INDEX i ON public.a USING btree (x)":                             "CREATE UNIQUE INDEX i",
		"CREATE OR REPLACE FUNCTION public.f(a integer)":                                "CREATE OR REPLACE FUNCTION public.f",
		"partitioned table public.p partition by RANGE (at)":                            "partitioned table public.p",
		"CREATE TABLE `my table` (":                                                     "CREATE TABLE `my table`",
		"CREATE ALGORITHM=UNDEFINED DEFINER=`r`@`%` SQL SECURITY DEFINER VIEW `v` AS":   "CREATE ALGORITHM=UNDEFINED DEFINER=`r`@`%` SQL SECURITY DEFINER VIEW `v`",
		"CREATE DEFINER=`r`@`%` TRIGGER `x` before insert on `a` for each row set @a=1": "CREATE DEFINER=`r`@`%` TRIGGER `x`",
		" SELECT a.id": "",
	} {
		if got := object.FindString(line); got != want {
			t.Errorf("%s: %q", line, got)
		}
	}
}
