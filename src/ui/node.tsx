import { useMemo } from 'preact/hooks';
import { roundedSize } from '../api/rounded-size.ts';
import { reads } from './api.ts';
import { VolumeName } from './links.tsx';
import { type ListColumn, Listing } from './listing.tsx';
import { NodeCheckSection } from './node-check.tsx';
import { NodeDevicesSection } from './node-devices.tsx';
import { readyText, roomText } from './nodes.tsx';
import { Facts, ObjectScreen } from './object-screen.tsx';
import { Age, Badge, SmallTable, Time, useStore } from './parts.tsx';
import type { VolumeRow } from './protocol.ts';
import { Section, Shown } from './sections.tsx';
import type { Store } from './store.ts';
import { youngestFirst } from './table.ts';

const COLUMNS: readonly ListColumn<VolumeRow>[] = [
  {
    heading: 'Name',
    by: ({ name }) => name,
    draw: ({ name }) => <VolumeName name={name} />,
    width: 30,
  },
  { heading: 'Type', by: ({ type }) => type, width: 14, isExtra: true },
  {
    heading: 'Size',
    by: ({ bytes }) => bytes,
    draw: ({ size }) => (size === '' ? '–' : size),
    width: 10,
  },
  {
    heading: 'Phase',
    by: ({ phase }) => phase,
    draw: ({ phase }) => <Badge text={phase} />,
    width: 14,
  },
  { heading: 'Claim', by: ({ claim }) => claim, width: 22, isExtra: true },
  {
    heading: 'Age',
    by: ({ created }) => youngestFirst(created),
    draw: ({ created }, now) => <Age value={created} now={now} />,
    width: 10,
    isExtra: true,
  },
];

const texts = ({ name, type, phase, claim, reason }: VolumeRow) => [
  name,
  type,
  phase,
  claim,
  reason,
];

/** Shows a node: what the cluster records about it, and on demand what the node answers. */
export function NodeScreen({ store, name }: { store: Store; name: string }) {
  const { state, revision } = useStore(store);
  const row = state.nodes.get(name);
  const volumes = useMemo(
    () => [...state.volumes.values()].filter(({ node }) => node === name),
    [revision],
  );
  const isListed = state.sources.get('volumes')?.state === 'listed';
  const bytes = volumes.reduce((sum, volume) => sum + volume.bytes, 0);
  return (
    <ObjectScreen
      store={store}
      what="node"
      name={name}
      list={{ link: '#/nodes', title: 'Nodes' }}
      read={reads.node(name)}
      version={`${row?.ready} ${row?.paused} ${volumes.length}`}
      badges={row?.paused && <Badge text="Paused" />}
      command={`stowage describe node ${name}`}
      actions={{
        namespace: '',
        offered: [{ action: row?.paused ? 'resumeNode' : 'pauseNode', preset: { name } }],
      }}
      facts={
        <Facts
          facts={[
            ['Ready', readyText(row?.ready)],
            ['Room by class', roomText(row?.room)],
            ['Size of Volumes', roundedSize(bytes)],
          ]}
        />
      }
      more={
        <>
          <NodeCheckSection name={name} />
          <NodeDevicesSection name={name} />
          <Section title="Volumes">
            <Listing
              kind="Volumes"
              rows={volumes}
              columns={COLUMNS}
              texts={texts}
              searched="name, type, claim or reason"
              isLoading={!isListed}
              empty={<p class="muted">No Volume is on this node.</p>}
            />
          </Section>
        </>
      }
      section={({ conditions, paused }) => (
        <Section title="Conditions">
          {paused !== '' && (
            <p class="prose">
              The node is paused: Stowage changes nothing on it. The annotation stowage.dev/paused
              is
              {` “${paused}”.`}
            </p>
          )}
          <Shown
            part={conditions}
            none="The cluster has no such Node."
            draw={(found) => (
              <SmallTable
                label="Conditions"
                headings={['Type', 'Status', 'Reason', 'Since', 'Message']}
                rows={found.map(({ type, status, reason, since, message }) => ({
                  key: type,
                  cells: [type, status, reason, <Time key="since" value={since} />, message],
                }))}
              />
            )}
          />
        </Section>
      )}
    />
  );
}
