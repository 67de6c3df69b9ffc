import { reads } from './api.ts';
import { Facts } from './object-screen.tsx';
import { OnDemand } from './on-demand.tsx';
import { Time } from './parts.tsx';
import { useAnswer } from './use-answer.ts';

/** Measures a Volume on demand: that may contact its node. */
export function UsageSection({ name }: { name: string }) {
  const state = useAnswer(reads.usage(name));
  return (
    <OnDemand
      title="Usage"
      id="usage"
      state={state}
      button="Measure"
      busy="Measuring…"
      problem="The Volume could not be measured"
      about={
        <>
          Asks the kubelet and the node, with your own access, how full the Volume is, as{' '}
          <code>stowage top volumes</code> does.
        </>
      }
      draw={({ figures }) =>
        figures.length === 0 ? (
          <p>No figure is known.</p>
        ) : (
          <Facts
            facts={figures.map(([label, value]) => [
              label,
              /^\d{4}-\d\d-\d\dT/.test(value) ? <Time key={label} value={value} /> : value,
            ])}
          />
        )
      }
    />
  );
}
