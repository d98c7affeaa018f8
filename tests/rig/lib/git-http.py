#!/usr/bin/env python3
"""Smart HTTP over `git http-backend`, on loopback: git-http.py ROOT PORT HOOKS.

Why not a real web server: the CGI contract is small, and this needs nothing that the machine does not have. Every repository below ROOT may be
fetched and pushed without a setting of its own; HOOKS holds the hooks of all of them. GET /-/ready answers 200.
"""
import http.server
import os
import pathlib
import subprocess
import sys

ROOT, PORT, HOOKS = pathlib.Path(sys.argv[1]).resolve(), int(sys.argv[2]), pathlib.Path(sys.argv[3]).resolve()
LIMIT = 256 * 1024 * 1024
SETTINGS = {"http.receivepack": "true", "core.hooksPath": str(HOOKS), "safe.directory": "*"}


class Refused(Exception):
    """A request that is not for Git."""


class Handler(http.server.BaseHTTPRequestHandler):
    """One request, one run of git http-backend."""

    protocol_version = "HTTP/1.1"
    timeout = 120

    def body(self):
        """The request's whole body, also when it comes in chunks (git does that for a large push)."""
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            length = int(self.headers.get("Content-Length") or 0)
            if length > LIMIT:
                raise Refused("too large")
            return self.rfile.read(length)
        parts, total = [], 0
        while size := int(self.rfile.readline().split(b";")[0].strip(), 16):
            total += size
            if total > LIMIT:
                raise Refused("too large")
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass
        return b"".join(parts)

    def environment(self, path, query, length):
        environment = dict(
            os.environ,
            GIT_PROJECT_ROOT=str(ROOT),
            GIT_HTTP_EXPORT_ALL="1",
            PATH_INFO=path,
            QUERY_STRING=query,
            REQUEST_METHOD=self.command,
            CONTENT_TYPE=self.headers.get("Content-Type", ""),
            CONTENT_LENGTH=str(length),
            REMOTE_USER="rig",
            REMOTE_ADDR="127.0.0.1",
            GIT_PROTOCOL=self.headers.get("Git-Protocol", ""),
            HTTP_CONTENT_ENCODING=self.headers.get("Content-Encoding", ""),
            GIT_CONFIG_COUNT=str(len(SETTINGS)),
        )
        for index, (key, value) in enumerate(SETTINGS.items()):
            environment[f"GIT_CONFIG_KEY_{index}"], environment[f"GIT_CONFIG_VALUE_{index}"] = key, value
        return environment

    def answer(self, status, headers, data):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def serve(self):
        path, _, query = self.path.partition("?")
        if path == "/-/ready":
            self.answer(200, [("Content-Type", "text/plain")], b"ok\n")
            return
        try:
            body = self.body()
        except (Refused, ValueError) as error:
            self.close_connection = True
            self.answer(400, [("Content-Type", "text/plain")], f"{error}\n".encode())
            return
        run = subprocess.run(
            ["git", "http-backend"], input=body, env=self.environment(path, query, len(body)), capture_output=True, check=False
        )
        if run.stderr:
            self.log_message("git http-backend: %s", run.stderr.decode(errors="replace").strip())
        head, separator, data = run.stdout.partition(b"\r\n\r\n")
        if not separator:
            self.answer(500, [("Content-Type", "text/plain")], b"git http-backend gave no answer\n")
            return
        status, headers = 200, []
        for line in head.decode().split("\r\n"):
            name, _, value = line.partition(": ")
            if name == "Status":
                status = int(value.split()[0])
            else:
                headers.append((name, value))
        self.answer(status, headers, data)

    do_GET = do_POST = serve


class Server(http.server.ThreadingHTTPServer):
    """Port 0 is never wanted here and a second server on the same port is a mistake."""

    daemon_threads = True


Server(("127.0.0.1", PORT), Handler).serve_forever()
