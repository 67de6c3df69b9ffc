import { Badge, SmallTable, SourceNotice, Time } from './parts.tsx';
import { snapshotLink } from './routes.ts';
import type { State } from './store.ts';
import { snapshotsOf } from './summary.ts';

/** Lists the snapshots of a claim. `claim`: `NAMESPACE/NAME` */
export function SnapshotTable({ state, claim }: { state: State; claim: string }) {
  const source = state.sources.get('snapshots');
  const rows = snapshotsOf(state.snapshots.values(), claim);
  if (source?.state === 'refused') return <SourceNotice source={source} kind="Snapshots" />;
  if (rows.length === 0) return <p class="muted">No snapshot was taken of it.</p>;
  return (
    <SmallTable
      label="Snapshots"
      headings={['Snapshot', 'Phase', 'Size', 'Taken', 'Message']}
      rows={rows.map(({ name, phase, size, taken, message }) => ({
        key: name,
        cells: [
          <a key="link" href={snapshotLink(name)}>
            {name}
          </a>,
          <Badge key="phase" text={phase} />,
          size === '' ? '–' : size,
          <Time key="taken" value={taken} />,
          message,
        ],
      }))}
    />
  );
}
