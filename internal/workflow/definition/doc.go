// Package definition is the language of workflows: it reads a definition,
// checks it, and turns it into tasks of the engine. It is pure: no database, no
// clock, no network, so lint and plan work on a laptop without a server.
//
//	YAML, JSON ──Parse──► Definition ──Lint──► Faults: file:line:col, what, advice
//	                          │ JSON()  (one normal form, stored by version)
//	              options ──Input──► params (defaults filled, schema checked)
//	                          │
//	                        Plan ──► []Task ─┬─ static:  whole, the engine starts it when its needs are met
//	                                         └─ dynamic: Plan is set, stands at the gate "plan"
//	      outcome of its needs ──Resolve──────► params, labels, run │ skip │ items │ sub-workflow
//	            ended items ──Outcome─────────► done with {"items","failed"} │ failed
//
// # A definition
//
//	name: media                     # letters, digits, _ . -; default: the file's name
//	version: 3                      # default: the next free one when it is stored
//	description: From a raw file to a video that is online.
//	params:                         # short form; or a whole JSON Schema of an object
//	  source: {type: string, required: true, description: where the raw file lies}
//	  width:  {type: integer, default: 1920}
//	  langs:  {type: array, items: {type: string}, default: [en]}
//	defaults: {width: 1280}         # wins over the schema's defaults
//	max_running: 2                  # jobs of it at once
//	priority: 5                     # of its jobs, -100 to 100
//	zone: Europe/Budapest           # of the dates of its jobs, and of schedules that have none
//	labels: {zone: eu}              # of the node of every step
//	env: {LANG: C.UTF-8}            # of every step
//	retry: {max_attempts: 3, backoff: 15s, cap: 5m, on: [75]}   # for every step that has none
//	timeout: {queue: 1h, start: 30s, run: 20m, heartbeat: 1m}   # so is this
//	schedules:
//	  - {name: nightly, spec: "0 2 * * *", zone: Europe/Budapest, params: {source: s3://raw/today}, overlap: skip, missed: one, catch_up: 6h, jitter: 1m}
//	steps:
//	  - key: ingest
//	    service: ingest             # done by a worker that serves it: of the SDK or an agent
//	    params: {source: "{{ .params.source }}"}
//	  - key: audio
//	    needs: [ingest]             # the source's depends_on and default_params are read too
//	    run: [ffmpeg, -i, "{{ .needs.ingest.result.file }}", out/audio.wav]   # a list alone: exec, no shell
//	    sticky: ingest              # on the same node; {to: ingest, hard: true} never gives up
//	    artifacts: ["*.wav"]        # below WEIR_OUT; default: every file
//	  - key: render
//	    needs: [ingest]
//	    when: needs.ingest.result.minutes > 0 && params.width >= 640
//	    map: {over: params.langs, tolerate: 1}   # limit: 4 instead of pool
//	    run:
//	      image: registry.example/render:2        # docker
//	      argv: [render, --lang, "{{ .item }}", --out, "part-{{ .index }}.mp4"]
//	      env: {PRESET: "{{ .params.width }}p"}
//	      cpu: 2
//	      memory: 2g
//	    labels: {gpu: true}
//	    prefer: {labels: {ssd: true}, for: 30s}
//	    pool: renderers
//	  - key: check
//	    needs: [render, audio]
//	    approval: the editor on duty
//	    service: check
//	  - key: publish
//	    needs: [check]
//	    workflow: publish@2         # a job of its own; its params are this step's
//	    params: {parts: "{{ .needs.render.items }}"}
//	  - key: cleanup
//	    needs: [publish]
//	    rule: all_done              # however publish ended; one_failed is a failure handler
//	    delay: 10m
//	    run: {url: "http://localhost:8080/cleanup", method: POST}   # http
//	  - key: build
//	    map: {matrix: {os: [linux, windows], go: params.versions}, exclude: [{os: windows, go: "1.24"}]}
//	    shell: bash -euo pipefail   # default: sh -eu
//	    env: {DAY: '{{ .job.scheduled_at | date "2006-01-02" }}'}
//	    script: make "$ITEM_OS" "$PARAM_TARGET"   # no template: values are variables
//	  - key: off
//	    finally: true               # after all others, however the job ends, also when it is canceled
//	    run: [power, "off"]
//	    secrets: {TOKEN: cleanup_token}           # variable → name of a secret
//	    files: {keys/id: deploy_key}              # path → name of a secret
//
// # Static and dynamic
//
// A step is dynamic if it has when, map, workflow, sticky or delay, if a
// template of it reads .needs, or if it reads the job's id before there is one.
// Everything else is static and costs nothing between two steps.
//
// # Params
//
// The job's params are defaults, then what options.params gives, checked
// against the schema. Templates read them as .params. A step that states no
// params is given all of them. A step that states some is given those; a plain
// value among them (no template) is replaced by the one of the same name in
// options.params, and options.steps.<key>.params goes over all. Options are
// values: a template in them is text.
//
// # Templates and expressions
//
// A template is {{ a pipeline }} in the syntax of text/template: fields,
// literals, functions (function.go). A text that is nothing but one template
// keeps the type of its value. A key that is not there is an error which lists
// what there is; default catches it. Expressions (when, map.over) have the
// grammar of expr, without a leading dot: params.x > 3 && "a" in needs.scan.result.tags.
// There too a missing key is an error; ?. and ?? catch it. What can be read:
//
//	params.<name>                                     of the job
//	needs.<step>.result | state | error | node | items   of steps that end before this one starts
//	item, index                                       in params, labels and run of a map
//	job.id | name | scheduled_at | options, workflow.name | version
//
// # Limits
//
// A definition has 1 MiB, 10,000 steps, 64 levels, 250,000 values after its
// aliases; an expression 4 KiB; the params of a step 1 MiB; a map 10,000 items;
// the tasks made at once 32 MiB. An evaluation has a budget of units (value.go)
// instead of a clock, so it gives the same answer on a slow machine.
//
// # Secrets
//
// A definition names secrets, it never holds them. Lint refuses one inside a
// template or a command: those are stored and shown.
package definition
