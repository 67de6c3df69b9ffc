import { roundedSize } from '../api/rounded-size.ts';
import { reads } from './api.ts';
import { OnDemand } from './on-demand.tsx';
import { SmallTable } from './parts.tsx';
import type { DeviceRow } from './protocol.ts';
import { useAnswer } from './use-answer.ts';

/** Lists the devices of a node on demand: that contacts it. */
export function NodeDevicesSection({ name }: { name: string }) {
  const state = useAnswer(reads.devices(name));
  return (
    <OnDemand
      title="Devices"
      id="devices"
      state={state}
      button="List the devices"
      busy="Asking the node…"
      problem="The devices could not be listed"
      about={
        <>
          Contacts the node, and lists its disks and partitions as{' '}
          <code>stowage create volume</code> offers them: what is on each, and why one is refused.
        </>
      }
      draw={({ devices }) =>
        devices.length === 0 ? (
          <p>The node has no disks.</p>
        ) : (
          <SmallTable
            label="Devices"
            headings={['Device', 'Size', 'Model', 'Content', 'For a Volume', 'Persistent path']}
            rows={devices.map((device) => ({
              key: device.path,
              cells: [
                device.path,
                roundedSize(device.bytes),
                device.model === '' ? '–' : device.model,
                contentText(device),
                useText(device),
                device.links[0] ?? '–',
              ],
            }))}
          />
        )
      }
    />
  );
}

function useText({ carries, use }: DeviceRow): string {
  if (use !== '') return `refused: ${use}`;
  return carries === '' ? 'offered' : 'offered, but its content has to be overwritten';
}

/** Returns what is on a device. The content of a device in use is not always known. */
function contentText({ carries, use }: DeviceRow): string {
  if (carries !== '') return carries;
  return use === '' ? 'no signature found' : '–';
}
