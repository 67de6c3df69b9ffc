import { reads } from './api.ts';
import { ObjectLink } from './links.tsx';
import { Facts, ObjectScreen } from './object-screen.tsx';
import { Badge, Time, useStore } from './parts.tsx';
import { Section } from './sections.tsx';
import { SnapshotTable } from './snapshot-table.tsx';
import type { Store } from './store.ts';

/** Shows a claim. `name`: `NAMESPACE/NAME` */
export function ClaimScreen({ store, name }: { store: Store; name: string }) {
  const { state } = useStore(store);
  const [namespace = '', claim = ''] = name.split('/');
  const row = state.claims.get(name);
  return (
    <ObjectScreen
      store={store}
      what="claim"
      name={name}
      list={{ link: '#/claims', title: 'Claims' }}
      read={reads.claim(name)}
      version={`${row?.version} ${row?.reason}`}
      badges={row && <Badge text={row.phase} />}
      command={`stowage describe pvc ${name}`}
      actions={{
        namespace,
        offered: [
          { action: 'createSnapshot', preset: { claim }, initial: { snapshot: `${name}-` } },
        ],
      }}
      facts={
        row && (
          <Facts
            facts={[
              [
                'Volume',
                row.volume && <ObjectLink kind="Volume" name={row.volume} text={row.volume} />,
              ],
              ['Size', row.size],
              ['Storage class', row.storageClass],
              [
                'Data source',
                row.sourceKind && (
                  <ObjectLink
                    kind={row.sourceKind}
                    name={row.sourceName}
                    text={`${row.sourceKind} ${row.sourceName}`}
                  />
                ),
              ],
              ['Reason', row.reason],
              ['Created', <Time key="created" value={row.created} />],
            ]}
          />
        )
      }
      more={
        <Section title="Snapshots">
          <SnapshotTable state={state} claim={name} />
        </Section>
      }
    />
  );
}
