#!/usr/bin/env python3
"""Load of 32 clients over HTTP and gRPC: right answers, no other status, no pool above its
capacity, and no growth of memory.

    load_test.py PROGRAMS                    a short load
    load_test.py PROGRAMS --load HTTP RPC    with these numbers of requests; prints latencies
"""

import asyncio
import sys
import time

import load
import rpc_load
import server_process
from server_process import ServerTest, wait_until

CLIENTS = 32
OPTION = "--load"


class LoadTest(ServerTest):

    OPTIONS = ("--grpc", "127.0.0.1:0", "--capacity", f"{load.POOL}={load.CAPACITY}")
    counts = {"HTTP": 4000, "gRPC": 800}  # of requests
    is_long = False

    @classmethod
    def setUpModels(cls, folder):
        load.add_models(folder)
        # A loop for all tests, because channels of grpc.aio leave threads that poll in each loop.
        cls.runner = cls.enterClassContext(asyncio.Runner())

    def run_load(self, name, run):
        count, times = self.counts[name], load.Times()
        watch = load.Watch(self.server)
        start = time.monotonic()
        self.runner.run(watch.run(run(self.server, count // 10, CLIENTS, times)))
        warm = watch.most_resident
        self.runner.run(watch.run(run(self.server, count, CLIENTS, times)))
        seconds = time.monotonic() - start
        if self.is_long:
            print(f"{name}: {times.count()} requests, {times.count() / seconds:.0f}/s; "
                  f"{load.POOL} at most {watch.most_pool} of {load.CAPACITY} bytes; resident "
                  f"{warm >> 10} KiB, later at most {watch.most_resident >> 10} KiB",
                  *times.lines(), sep="\n  ", flush=True)
        self.assertEqual(times.wrong[:5], [])
        self.assertLessEqual(watch.most_pool, load.CAPACITY)
        self.assert_memory_is_flat(warm, warm // 50 if self.is_long else 16 << 20)
        wait_until(lambda: self.server.statistics("slow")["pending_count"] == 0,
                   "abandoned requests end")

    def test_http(self):
        self.run_load("HTTP", load.run_http)

    def test_rpc(self):
        self.run_load("gRPC", rpc_load.run_rpc)


if __name__ == "__main__":
    if OPTION in sys.argv:
        at = sys.argv.index(OPTION)
        LoadTest.counts = dict(zip(LoadTest.counts, map(int, sys.argv[at + 1:at + 3])))
        LoadTest.is_long = True
        del sys.argv[at:at + 3]
    server_process.main()
