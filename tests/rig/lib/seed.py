#!/usr/bin/env python3
"""Seeds the cloud: seed.py CLOUD HOST…

One zone `rig-a` holds all hosts, so that a server may move between them. Each host is also in a building block of its own (`rig-bb1`, …), and
its resource provider has the trait CUSTOM_RIG_GOLD: what the Node objects of the rig's Kubernetes ask for.
"""
import sys

import openstack

TRAIT = "CUSTOM_RIG_GOLD"
cloud = openstack.connect(cloud=sys.argv[1])
hosts = sys.argv[2:]

if not cloud.compute.find_flavor("rig.tiny"):
    cloud.compute.create_flavor(name="rig.tiny", ram=64, vcpus=1, disk=1)
if not cloud.image.find_image("rig-image"):
    # QEMU finds nothing to boot in it and stays in its firmware: enough for a life cycle.
    cloud.image.create_image(
        name="rig-image", data=bytes(1024 * 1024), disk_format="raw", container_format="bare", visibility="public", allow_duplicates=True
    )
network = cloud.network.find_network("rig-net") or cloud.network.create_network(name="rig-net")
if not cloud.network.find_subnet("rig-subnet"):
    cloud.network.create_subnet(name="rig-subnet", network_id=network.id, ip_version=4, cidr="192.168.100.0/24", enable_dhcp=False)


def aggregate(name, members, metadata=None):
    found = cloud.compute.find_aggregate(name) or cloud.compute.create_aggregate(name=name)
    if metadata:
        cloud.compute.set_aggregate_metadata(found, metadata)
    for host in members:
        if host not in (found.hosts or []):
            cloud.compute.add_host_to_aggregate(found, host)


aggregate("rig-a", hosts, {"availability_zone": "rig-a"})
for host in hosts:
    aggregate(f"rig-bb{host.removeprefix('node-')}", [host])

placement = cloud.placement
placement.put(f"/traits/{TRAIT}", headers={"OpenStack-API-Version": "placement 1.6"}).raise_for_status()
for host in hosts:
    provider = next(placement.resource_providers(name=host))
    url = f"/resource_providers/{provider.id}/traits"
    # The compute service writes this list too; the generation tells who was first, so a lost race is read again.
    for _ in range(10):
        now = placement.get(url, headers={"OpenStack-API-Version": "placement 1.6"}).json()
        if TRAIT in now["traits"]:
            break
        now["traits"].append(TRAIT)
        answer = placement.put(url, json=now, headers={"OpenStack-API-Version": "placement 1.6"})
        if answer.status_code == 200:
            break
        if answer.status_code != 409:
            answer.raise_for_status()
    else:
        sys.exit(f"the trait of {host} could not be set: its provider changes all the time")
