#!/usr/bin/env python3
"""A worker for Weir in Python. Needs psycopg2 and a login that is a member of weir_worker.

    python3 worker.py 'postgresql://me@localhost/weir' [--drain]

It claims, runs and reports until it is stopped; with --drain it ends when there
is nothing left to do. Work that takes longer than a lease (30 s) must renew it
meanwhile: select * from weir.renew(worker, tasks, attempts, tokens).
"""
import json
import os
import socket
import sys
import time

import psycopg2


def mail(params):
    return {"sent": params["to"]}


def count(params):
    return {"of": params["of"], "count": len(params["of"])}


services = {"mail": mail, "count": count}
worker = f"python-{socket.gethostname()}-{os.getpid()}"
connection = psycopg2.connect(sys.argv[1])
connection.autocommit = True  # each call is a transaction of its own
db = connection.cursor()
db.execute("select weir.register_worker(%s, %s)", (worker, list(services)))
while True:
    # What time alone brings about (retries that are due, leases that ran out).
    # A server does this; without one, any worker may. A second caller is free.
    db.execute("select weir.tend(true)")
    db.execute("select task, attempt, token, service, params from weir.claim(%s, %s, 10)", (worker, list(services)))
    leases = db.fetchall()
    for task, attempt, token, service, params in leases:
        # The token proves that the lease is ours. If it was lost meanwhile, the
        # answer is lease_lost, and nothing was changed.
        try:
            result = json.dumps(services[service](params))
            db.execute("select weir.finish(%s, %s, %s, %s)", (task, attempt, token, result))
        except (KeyError, TypeError, ValueError) as error:
            db.execute("select weir.fail(%s, %s, %s, %s)", (task, attempt, token, repr(error)))
        print(service, task, db.fetchone()[0], flush=True)
    if not leases:
        if "--drain" in sys.argv:
            break
        time.sleep(1)  # or LISTEN weir_available, which only saves time
db.execute("select weir.stop_worker(%s)", (worker,))
