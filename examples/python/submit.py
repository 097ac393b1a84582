#!/usr/bin/env python3
"""Submit tasks to Weir from Python. Needs psycopg2 and a login that is a member of weir_client.

    python3 submit.py 'postgresql://me@localhost/weir'

A submission is one SQL call, so it can share a transaction with your own
tables: the order row and the mail that confirms it commit together, or
neither does.
"""
import json
import sys

import psycopg2

connection = psycopg2.connect(sys.argv[1])
with connection, connection.cursor() as db:  # one transaction
    # One task. The idempotency key makes a repeat of this script harmless.
    db.execute(
        "select weir.submit('mail', %s, idempotency_key => %s)",
        (json.dumps({"to": "ann@example.org"}), "order-17"),
    )
    mail = db.fetchone()[0]

    # A job: report waits for both counts. Needs name the keys of other tasks.
    tasks = [
        {"service": "count", "key": "red", "params": {"of": "red"}},
        {"service": "count", "key": "blue", "params": {"of": "blue"}},
        {"service": "mail", "key": "report", "needs": ["red", "blue"], "params": {"to": "bob@example.org"}},
    ]
    db.execute("select weir.submit_job(%s, 'weekly report')", (json.dumps(tasks),))
    job = db.fetchone()[0]
print("task", mail)
print("job", job)

# Why does the report not run? One line per gate.
with connection, connection.cursor() as db:
    db.execute(
        "select w.gate, w.open, w.reason from weir.task t, weir.why(t.id) w where t.job = %s and t.key = 'report'",
        (job,),
    )
    for gate, is_open, reason in db.fetchall():
        print(gate, "open" if is_open else "closed", reason)
connection.close()
