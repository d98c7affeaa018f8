#!/usr/bin/env python3
"""Succeeds when Nova says that every named service is up: services-up.py KEYSTONE PASSWORD BINARY:HOST…

A nova-compute must be a hypervisor as well. Only the standard library, because it is asked several times a second's worth of start-up.
"""
import json
import sys
import urllib.request


def call(url, token=None, body=None):
    headers = {"Content-Type": "application/json", "OpenStack-API-Version": "compute 2.53"}
    if token:
        headers["X-Auth-Token"] = token
    request = urllib.request.Request(url, json.dumps(body).encode() if body else None, headers)
    with urllib.request.urlopen(request, timeout=8) as answer:
        return answer.headers, json.load(answer)


def main(keystone, password, *wanted):
    domain = {"name": "Default"}
    user = {"name": "admin", "password": password, "domain": domain}
    body = {"auth": {"identity": {"methods": ["password"], "password": {"user": user}}, "scope": {"project": {"name": "admin", "domain": domain}}}}
    headers, answer = call(f"{keystone}/auth/tokens", body=body)
    token = headers["X-Subject-Token"]
    nova = next(
        endpoint["url"]
        for service in answer["token"]["catalog"]
        if service["type"] == "compute"
        for endpoint in service["endpoints"]
        if endpoint["interface"] == "public"
    )
    services = call(f"{nova}/os-services", token)[1]["services"]
    up = {f"{service['binary']}:{service['host']}" for service in services if service["state"] == "up"}
    hypervisors = {one["hypervisor_hostname"] for one in call(f"{nova}/os-hypervisors", token)[1]["hypervisors"]}
    missing = [name for name in wanted if name not in up]
    missing += [name for name in wanted if name.startswith("nova-compute:") and name.partition(":")[2] not in hypervisors]
    if missing:
        sys.exit(f"not up: {' '.join(missing)}")


main(*sys.argv[1:])
