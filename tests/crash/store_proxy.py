#!/usr/bin/env python3
"""TCP proxies in front of one server, each with faults of its own that are told on stdin.

    store_proxy.py TARGET_PORT PORT...

    NAME delay SECONDS   every piece of data is late by that much, in both directions
    NAME hold            nothing passes; connections are accepted and stay open, as if packets were lost
    NAME mute            what is asked gets there, what is answered does not: the COMMIT happened and nobody heard of it
    NAME refuse          connections are reset, and so is every new one
    NAME ok              none of this; whatever was held or muted is reset, since bytes of it are missing

NAME is the place of the port in the list. Each command is answered with its line. A process of its own: beside the callers of a
test it would be late by itself.
"""
import asyncio
import contextlib
import socket
import struct
import sys

PIECE = 65536


class Proxy:
    def __init__(self, target):
        self.target = target
        self.mode = "ok"
        self.seconds = 0.0
        self.writers = set()

    async def serve(self, reader, writer):
        if self.mode == "refuse":
            reset(writer)
            return
        try:
            server_reader, server_writer = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            reset(writer)
            return
        both = {writer, server_writer}
        self.writers |= both
        ways = [asyncio.create_task(self.carry(reader, server_writer, False)),
                asyncio.create_task(self.carry(server_reader, writer, True))]
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for way in ways:
            way.cancel()
        self.writers -= both
        for one in both:
            reset(one)

    async def carry(self, reader, writer, is_answer):
        with contextlib.suppress(OSError):
            while data := await reader.read(PIECE):
                if self.mode == "delay":
                    await asyncio.sleep(self.seconds)
                while self.mode == "hold":
                    await asyncio.sleep(0.01)
                if self.mode == "mute" and is_answer:
                    continue
                writer.write(data)
                await writer.drain()

    def obey(self, mode, seconds="0"):
        if mode == "refuse" or (mode == "ok" and self.mode in ("hold", "mute")):
            for writer in self.writers:
                reset(writer)
        self.mode, self.seconds = mode, float(seconds)


def reset(writer):
    """RST, as a network that has given up says it."""
    with contextlib.suppress(OSError):
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def main(target, *ports):
    proxies = [Proxy(target) for _ in ports]
    for proxy, port in zip(proxies, ports):
        await asyncio.start_server(proxy.serve, "127.0.0.1", port)
    commands = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
    print("ready", flush=True)
    while line := (await commands.readline()).decode():
        place, *words = line.split()
        proxies[int(place)].obey(*words)
        print(line, end="", flush=True)


asyncio.run(main(*map(int, sys.argv[1:])))
