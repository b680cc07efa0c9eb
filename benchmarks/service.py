"""The service under load: `python benchmarks/service.py [--seconds 60] [--clients 20,200]`.

Starts `lifeyears serve` with its sample model on a free port of this machine, then lets clients rank 300 candidates
each, over and over, from this process. Prints requests a second, latencies, errors, the service's memory at the start
and the end, and the load of the machine; and how long 3,000 candidates of one donor take in process.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import time

import numpy as np

import lifeyears as ly


def request_of(rows, donor, port):
    body = json.dumps({"candidates": rows, "donor": donor, "k": 5}).encode()
    head = (
        f"POST /api/rank HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


async def client(port, request, until, latencies, errors, answers):
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=4_000_000)
    try:
        while time.monotonic() < until:
            start = time.monotonic()
            writer.write(request)
            await writer.drain()
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0])
            answer = await reader.readexactly(length)
            latencies.append(time.monotonic() - start)
            answers.add(hash(answer))
            if b" 200 " not in head.splitlines()[0]:
                errors.append(head.splitlines()[0])
    except (OSError, asyncio.IncompleteReadError) as error:
        errors.append(repr(error))
    finally:
        writer.close()


async def load(port, request, clients, seconds, pid):
    latencies, errors, answers, memory = [], [], set(), []

    async def watch():
        while True:
            memory.append(resident(pid))
            await asyncio.sleep(1)

    watching = asyncio.create_task(watch())
    until = time.monotonic() + seconds
    start = time.monotonic()
    await asyncio.gather(*(client(port, request, until, latencies, errors, answers) for _ in range(clients)))
    took = time.monotonic() - start
    watching.cancel()
    return latencies, errors, answers, memory, took


def resident(pid):
    """Megabytes of a process."""
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmRSS"))


def cpu(pid):
    """Seconds of processor time of a process."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run_of(model, n):
    people = ly.data.Population()
    pairs = people.pairs(people.candidates(n, 1), people.donors(3, 2), donor=1, incompatible="keep")
    rows = json.loads(pairs[model.schema.names].to_json(orient="records", double_precision=15))
    donor = {name: rows[0][name] for name in model.schema.donor_names}
    return [{name: value for name, value in row.items() if name not in donor} for row in rows], donor


def in_process(model, n=3000, times=15):
    """Checked, ranked, explained and written as rows: wall and processor time, the least of several."""
    rows, donor = run_of(model, n)
    wall, used = [], []
    for _ in range(times):
        start, begun = time.perf_counter(), time.process_time()
        model.rank(model.schema.table(rows, donor), 5).rows()
        wall.append(time.perf_counter() - start)
        used.append(time.process_time() - begun)
    return min(wall), float(np.median(wall)), min(used)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--clients", default="20,200")
    parser.add_argument("--rows", type=int, default=300)
    chosen = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    from lifeyears.service import sample_models

    model = sample_models(print)["ranker"]
    least, middle, used = in_process(model)
    said = f"least {1000 * least:.0f} ms, median {1000 * middle:.0f} ms, processor {1000 * used:.0f} ms"
    print(f"3,000 candidates in process: {said}")
    command = [sys.executable, "-m", "lifeyears", "serve", "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        line = next(line for line in server.stdout if line.startswith("Lifeyears on"))
        port = int(line.split("://")[1].split()[0].rsplit(":", 1)[1])
        request = request_of(*run_of(model, chosen.rows), port)
        cores, busy = os.cpu_count(), os.getloadavg()[0]
        print(f"request {len(request) / 1000:.0f} kB, {cores} cores, load of the machine {busy:.1f}")
        asyncio.run(load(port, request, 2, 2, server.pid))
        for clients in map(int, chosen.clients.split(",")):
            before = cpu(server.pid)
            latencies, errors, answers, memory, took = asyncio.run(
                load(port, request, clients, chosen.seconds, server.pid)
            )
            spent = (cpu(server.pid) - before) / max(len(latencies), 1)
            p50, p95, p99 = np.quantile(latencies, [0.5, 0.95, 0.99])
            print(
                f"{clients} clients, {took:.0f} s: {len(latencies):,} requests, {len(latencies) / took:.1f} a second; "
                f"p50 {p50:.3f} p95 {p95:.3f} p99 {p99:.3f} largest {max(latencies):.3f} s; {len(errors)} errors; "
                f"{len(answers)} different answer(s); processor {1000 * spent:.0f} ms a request; memory "
                f"{memory[0]:.0f} to {memory[-1]:.0f} MB (largest {max(memory):.0f}); "
                f"load of the machine {os.getloadavg()[0]:.1f}"
            )
            for error in errors[:3]:
                print("  ", error)
    finally:
        server.terminate()
        server.wait(20)


if __name__ == "__main__":
    main()
