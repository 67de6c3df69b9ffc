import { roundedSize } from '../api/rounded-size.ts';
import { reads } from './api.ts';
import { Facts } from './object-screen.tsx';
import { OnDemand } from './on-demand.tsx';
import { Badge, Code } from './parts.tsx';
import type { CheckRow, NodeCheck } from './protocol.ts';
import { Shown } from './sections.tsx';
import { useAnswer } from './use-answer.ts';

/** Checks a node on demand: that contacts it. */
export function NodeCheckSection({ name }: { name: string }) {
  const state = useAnswer(reads.check(name));
  return (
    <OnDemand
      title="Check"
      id="check"
      state={state}
      button="Check the node"
      busy="Asking the node…"
      problem="The node could not be checked"
      about={
        <>
          Contacts the node as <code>stowage check node</code> does, with your own access: whether
          it is reachable, its free space, missing tools and leftovers. Nothing is changed.
        </>
      }
      draw={(answer) => <Check answer={answer} />}
    />
  );
}

function Check({ answer: { access, checks } }: { answer: NodeCheck }) {
  return (
    <>
      <Shown
        part={access}
        draw={({ transport, address, reachable, directory, freeBytes, message }) => (
          <Facts
            facts={[
              ['Reachable', reachable ? 'yes' : 'no'],
              ['Transport', transport],
              ['Address', address],
              ['Free space', directory && `${roundedSize(freeBytes)} in ${directory}`],
              ['Message', message],
            ]}
          />
        )}
      />
      <Shown part={checks} draw={(rows) => <Checks rows={rows} />} />
    </>
  );
}

function Checks({ rows }: { rows: readonly CheckRow[] }) {
  const problems = rows.filter(({ ok }) => !ok);
  const good = rows.filter(({ ok }) => ok);
  return (
    <>
      <p>
        {problems.length === 0
          ? 'No problem was found.'
          : `${problems.length} ${problems.length === 1 ? 'problem was' : 'problems were'} found.`}
      </p>
      {problems.map((each, index) => (
        <CheckCard key={`${index} ${each.check}`} check={each} />
      ))}
      {good.length > 0 && (
        <details>
          <summary>
            Passed <span class="muted">{good.length}</span>
          </summary>
          <ul class="names">
            {good.map(({ check, message }, index) => (
              <li key={`${index} ${check}`}>
                {check}: {message}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

function CheckCard({ check: { check, message, hint, command } }: { check: CheckRow }) {
  return (
    <article class="card">
      <h3>
        {check} <Badge text="Failed" />
      </h3>
      <p class="prose">{message}</p>
      {hint !== '' && (
        <p class="prose">
          <strong>Fix:</strong> {hint}
        </p>
      )}
      {command !== '' && <Code text={command} label="command of the fix" />}
    </article>
  );
}
