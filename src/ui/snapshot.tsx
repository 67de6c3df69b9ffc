import { reads } from './api.ts';
import { ObjectLink } from './links.tsx';
import { Facts, ObjectScreen } from './object-screen.tsx';
import { Badge, Time, useStore } from './parts.tsx';
import type { Store } from './store.ts';

/** Shows a VolumeSnapshot. `name`: `NAMESPACE/NAME` */
export function SnapshotScreen({ store, name }: { store: Store; name: string }) {
  const { state } = useStore(store);
  const row = state.snapshots.get(name);
  const [namespace = ''] = name.split('/');
  const volume = row && state.claims.get(row.claim)?.volume;
  return (
    <ObjectScreen
      store={store}
      what="snapshot"
      name={name}
      list={{ link: '#/snapshots', title: 'Snapshots' }}
      read={reads.snapshot(name)}
      version={`${row?.version}`}
      badges={row && <Badge text={row.phase} />}
      command={`stowage describe snapshot ${name}`}
      actions={{
        namespace,
        offered: [
          { action: 'restoreSnapshot', preset: { snapshot: name } },
          { action: 'grantSnapshot', initial: { snapshot: name } },
        ],
      }}
      facts={
        row && (
          <Facts
            facts={[
              [
                'Source',
                row.claim === '' ? (
                  `content ${row.content}`
                ) : (
                  <ObjectLink kind="PersistentVolumeClaim" name={row.claim} text={row.claim} />
                ),
              ],
              ['Volume', volume && <ObjectLink kind="Volume" name={volume} text={volume} />],
              ['Size', row.size],
              ['Snapshot class', row.snapshotClass],
              ['Taken', row.taken && <Time value={row.taken} />],
              ['Error', row.message],
            ]}
          />
        )
      }
    />
  );
}
