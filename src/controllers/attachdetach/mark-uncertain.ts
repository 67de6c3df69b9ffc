import { READY_REASON } from '../../api/names.ts';
import type { Volume } from '../../api/volume.ts';
import type { NodeIncarnation } from '../../model/node-incarnation.ts';
import { nodeOf } from '../../model/volume-nodes.ts';
import { change } from './actual-state.ts';
import type { Managed } from './types.ts';
import { forgetFailures, type VolumeState } from './volume-state.ts';

/** Changes cached attachment state that outside events outdate. Never starts an operation. */

/**
 * Marks attachments on a node as uncertain once it has booted or become Ready again. A node that
 * was never verified may have any device once the Volume is provisioned. An always attached Volume
 * whose provisioning has just measured the device is Attached instead.
 */
export function markUncertain(
  known: VolumeState,
  managed: Managed | undefined,
  incarnationOf: (node: string) => NodeIncarnation,
  now: number,
): void {
  const { prepared, deviceName } = known.volume.status ?? {};
  if (prepared === undefined && known.entries.length === 0) {
    known.notProvisioned = true;
    return;
  }
  // The Volume was provisioned while this process ran, so its device was measured just now.
  const measured = known.notProvisioned && managed?.policy === 'Always' && deviceName !== undefined;
  known.notProvisioned = false;
  const nodes = new Set([...(managed?.nodes ?? []), ...known.entries.map(({ node }) => node)]);
  for (const node of nodes) {
    const incarnation = incarnationOf(node);
    const before = known.incarnations.get(node);
    known.incarnations.set(node, incarnation);
    if (before === undefined && measured && node === managed.home) {
      known.entries = change(
        known.entries,
        node,
        { state: 'Attached', safeToMount: true, device: deviceName },
        now,
      );
    } else if (before === undefined) {
      known.unverifiedNodes.add(node);
    } else if (before.boot !== incarnation.boot || (incarnation.ready && !before.ready)) {
      known.unverifiedNodes.add(node);
      forgetFailures(known, node);
      setUncertain(known, node, now);
    }
  }
}

/**
 * Marks an attachment as uncertain once the Volume's status reports that the device is missing or
 * that its path leads to another device. An always attached Volume reports it by its condition. An
 * `OnDemand` Volume reports it by a status without `deviceName` while its attachment still has a
 * device.
 */
export function onDeviceMissing(known: VolumeState, volume: Volume, now: number): void {
  const { status } = volume;
  const shown = status?.attachments?.find(({ state }) => state === 'Attached');
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  const home = nodeOf(volume);
  if (ready?.reason === READY_REASON.attaching)
    markOncePerVersion(known, ready.lastUpdateTime, home, now);
  if (ready?.reason === READY_REASON.pathAstray)
    markOncePerVersion(known, ready.lastUpdateTime, shown?.node ?? home, now);
  if (!isOnDemand(volume) || status?.deviceName !== undefined) return;
  if (shown?.device !== undefined)
    markOncePerVersion(known, volume.metadata.resourceVersion, shown.node, now);
}

const isOnDemand = ({ spec }: Volume): boolean => spec.attachPolicy === 'OnDemand';

/** Marks the attachment as uncertain once for each version of the report. */
function markOncePerVersion(
  known: VolumeState,
  version: string | undefined,
  node: string,
  now: number,
): void {
  if (version === undefined || version === known.lastDeviceMissingVersion) return;
  known.lastDeviceMissingVersion = version;
  setUncertain(known, node, now);
}

function setUncertain(known: VolumeState, node: string, now: number): void {
  const entry = known.entries.find((each) => each.node === node);
  if (entry?.state !== 'Attached') return;
  known.entries = change(known.entries, node, { state: 'Uncertain', safeToMount: false }, now);
}
