import type { DeviceRow, NodeDevices } from '../../../ui/protocol.ts';
import { withNodes } from '../../lib/nodes/with-nodes.ts';
import { type NodeDevice, ownersOn, readDevices } from '../../lib/wizard/devices.ts';
import { notesIn } from '../command-data.ts';
import { publicName } from '../public-text.ts';
import type { ReadAccess } from './read-access.ts';
import type { ReadRoute } from './read-route.ts';

/** Maximum devices, and links of a device, that the page gets. */
const MOST_DEVICES = 2000;
const MOST_LINKS = 10;

/**
 * Contacts a node, and lists its devices as the wizard of `create volume` offers them. Throws a
 * NodeError, an ObservationError or a StowageError.
 */
export async function readNodeDevices(
  { name }: Pick<ReadRoute, 'name'>,
  { client, io, nodeFlags }: Pick<ReadAccess, 'client' | 'io' | 'nodeFlags'>,
): Promise<NodeDevices> {
  let stderr = '';
  const noting = {
    ...io,
    stderr: {
      write(text: string) {
        stderr += text;
      },
    },
  };
  const owners = await ownersOn(name, client, io.signal);
  const devices = await withNodes([name], await nodeFlags(), noting, client, (executor) =>
    readDevices(name, executor, owners),
  );
  return {
    devices: devices.slice(0, MOST_DEVICES).map(deviceRow),
    at: new Date(io.clock.timeOfDay()).toISOString(),
    note: notesIn({ stderr }),
  };
}

/** Returns named fields of a device. Pure. */
export const deviceRow = ({
  path,
  links,
  model,
  sizeBytes,
  carries,
  use,
}: NodeDevice): DeviceRow => ({
  path: publicName(path),
  links: links.slice(0, MOST_LINKS).map(publicName),
  model: publicName(model),
  bytes: Number(sizeBytes),
  carries: publicName(carries),
  use: publicName(use),
});
