#!/usr/bin/env python3
"""Fills a fresh Keystone: catalogue.py KEYSTONE PASSWORD ADDRESS. Prints the id and secret of an application credential of admin.

The role `service` is for send_service_user_token: Nova and Neutron accept a service's token only from a user that has it.
"""
import secrets
import sys

from keystoneauth1 import session
from keystoneauth1.identity import v3

keystone, password, address = sys.argv[1:]
SERVICES = {
    "compute": ("nova", f"{address}:8774/v2.1"),
    "placement": ("placement", f"{address}:8778"),
    "image": ("glance", f"{address}:9292"),
    "network": ("neutron", f"{address}:9696"),
}
login = v3.Password(
    auth_url=f"{keystone}/v3",
    username="admin",
    password=password,
    project_name="admin",
    user_domain_name="Default",
    project_domain_name="Default",
)
admin = session.Session(auth=login)


def create(kind, collection, **fields):
    return admin.post(f"{keystone}/v3/{collection}", json={kind: fields}).json()[kind]


roles = {role["name"]: role["id"] for role in admin.get(f"{keystone}/v3/roles").json()["roles"]}
service_role = roles.get("service") or create("role", "roles", name="service")["id"]
admin.put(f"{keystone}/v3/projects/{admin.get_project_id()}/users/{admin.get_user_id()}/roles/{service_role}")
for kind, (name, url) in SERVICES.items():
    service = create("service", "services", type=kind, name=name)
    for interface in ("public", "internal", "admin"):
        create("endpoint", "endpoints", service_id=service["id"], interface=interface, url=url, region_id="RegionOne")
secret = secrets.token_urlsafe(32)
credential = create(
    "application_credential",
    f"users/{admin.get_user_id()}/application_credentials",
    name="rig",
    secret=secret,
    roles=[{"name": "admin"}],
)
print(credential["id"], secret)
