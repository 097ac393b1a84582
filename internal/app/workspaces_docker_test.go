package app

import (
	"context"
	"testing"

	"github.com/moby/moby/client"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/dockertest"
	"github.com/weirhq/weir/internal/testwait"
	"github.com/weirhq/weir/internal/workspace/provider/providertest"
)

// inContainers runs workspaces on a private engine.
func inContainers(t *testing.T) lodging {
	engine := dockertest.Start(t)
	providertest.Image(t, engine.Host, otherImage, `ENTRYPOINT ["/program","serve","--home","/srv","--listen","127.0.0.1:9000"]`, "USER 4711:4711",
		"LABEL weir.workspace.home=/srv", "EXPOSE 9000")
	direct, err := client.New(client.WithHost(engine.Host))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = direct.Close() })
	return lodging{
		provider: onDocker, role: auth.Operator,
		config: Config{DockerHost: engine.Host, WorkspaceProgram: providertest.Program(t), WorkspaceMemory: 256, WorkspaceImages: []string{"weir.test/*"}},
		left:   func() []string { return leftIn(t, direct) },
		more:   func(w *tenancy) { w.inImage(engine) },
	}
}

// leftIn is what an engine itself says that it has of workspaces.
func leftIn(t *testing.T, direct *client.Client) (left []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testwait.Limit)
	defer cancel()
	ours := client.Filters{}.Add("label", "weir.workspace")
	volumes, err := direct.VolumeList(ctx, client.VolumeListOptions{Filters: ours})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range volumes.Items {
		left = append(left, v.Name)
	}
	containers, err := direct.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: ours})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range containers.Items {
		left = append(left, c.Names...)
	}
	return left
}

const otherImage = "weir.test/other:1"

// inImage: any image runs that is allowed. It is named in the form, and opened through the
// proxy. Its engine hangs for a while: the page keeps the phase, says that it cannot be
// seen, and what was wanted meanwhile is done when the engine is back.
func (w *tenancy) inImage(engine *dockertest.Engine) {
	b := w.b
	w.makes("other", otherImage)
	b.WaitText(otherImage)
	page := b.Value("location.pathname")
	b.Go(page + "/open")
	b.Wait("what the image has in its home", `location.host.startsWith("ws-") && [...document.querySelectorAll("#files button")].some((e) => e.textContent === "welcome")`)

	b.Go(page)
	b.WaitLive()
	engine.Freeze(w)
	b.ClickText("Stop")
	b.Wait("that it cannot be seen", `document.querySelector("[data-why]")?.textContent.includes("It was RUNNING when it could last be seen")`)
	watch(b, ".page-head [data-phase]")
	engine.Thaw(w)
	b.Wait("that it was stopped", `document.querySelector('.page-head [data-phase="STANDBY"]')`)
	b.Wait("that it can be seen", `!document.querySelector("[data-why]").textContent.includes("when it could last be seen")`)
	if seen := b.Value(`window.seen.join(" ")`); seen != "RUNNING STANDBY" {
		w.Errorf("the page showed %q", seen)
	}
	b.ClickText("Delete")
	b.Wait("the question", `document.querySelector("#ask[open] #question")`)
	b.Click("#ask button[type=submit]")
	b.Wait("the list", `location.pathname === "/workspaces"`)
}
