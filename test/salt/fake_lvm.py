"""Fakes the programs and devices of LVM that checks of a node's list read. Needs no device-mapper."""

import json
import os
import tempfile
from unittest import mock

from stowage_node import devices, programs, volumes

VG = {"vg0": "abcdef-0000-1111-2222-3333-4444-VGUUID", "vg1": "ghijkl-0000-1111-2222-3333-4444-VGUUID"}


def fake_lvm(case, *found, physical=(("vg0", "/dev/vdb"), ("vg1", "/dev/vdc"))):
    """
    Fakes LVM until the test `case` ends. `found`: dicts with `name` (GROUP/NAME), `uuid`, `tags`, and `device` (dm-N)
    if active. Optional keys: `link`, the device that its path leads to; `kernel`, other values in SYSFS; `hidden`, set
    if LVM does not list it.
    """
    temporary = tempfile.TemporaryDirectory()
    case.addCleanup(temporary.cleanup)
    folder = temporary.name
    reports = []
    links = {}
    for each in found:
        group, name = each["name"].split("/")
        row = {"vg_uuid": VG[group], "lv_uuid": each["uuid"], "lv_tags": each.get("tags", "")}
        select = f"'vg_uuid={VG[group]}&&lv_uuid={each['uuid']}'"
        reports += [] if each.get("hidden") else [f"  {each['name']} | {select}) echo '{json.dumps({'report': [{'lv': [row]}]})}' ;;\n"]
        if "device" in each:
            parts = (part.replace("-", "--") for part in (group, name))
            made = {"dm/name": "-".join(parts), "dm/uuid": "LVM-" + (VG[group] + each["uuid"]).replace("-", "")}
            for what, text in {**made, "size": "2097152", **each.get("kernel", {})}.items():
                path = f"{folder}/sys/{each['device']}/{what}"
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(f"{text}\n")
            links[f"/dev/{each['name']}"] = f"/dev/{each.get('link', each['device'])}"
    asked = "[ \"$1 $2 $3\" = '--reportformat json -o' ] || exit 3\nfor last; do :; done\ncase $last in\n"
    lvs = "".join((asked, *reports, "  *) exit 5 ;;\nesac\n"))
    rows = [{"vg_name": group, "pv_name": path} for group, path in physical]
    os.makedirs(f"{folder}/bin")
    for program, text in {"lvs": lvs, "pvs": f"echo '{json.dumps({'report': [{'pv': rows}]})}'\n"}.items():
        with open(f"{folder}/bin/{program}", "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\necho {program} >> {folder}/asked\n{text}")
        os.chmod(file.name, 0o755)
    real = os.path.realpath
    for patched in (
        mock.patch.object(programs, "PATH", f"{folder}/bin:{programs.PATH}"),
        mock.patch.object(volumes, "SYSFS", f"{folder}/sys"),
        mock.patch.object(devices, "is_in_use", lambda path: path == "/dev/dm-9"),
        mock.patch.object(os.path, "realpath", lambda path, **how: links.get(path) or real(path, **how)),
    ):
        patched.start()
        case.addCleanup(patched.stop)
    return f"{folder}/asked"
