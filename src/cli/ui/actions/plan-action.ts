import type { Connection } from '../../../kube/connect.ts';
import type { PlanAnswer, PlanRefusal } from '../../../ui/protocol.ts';
import type { GlobalFlags } from '../../lib/globals.ts';
import type { Io } from '../../lib/io.ts';
import { publicName } from '../public-text.ts';
import { globalArguments, type Run } from '../run-command.ts';
import type { Plan } from './plans.ts';
import { argumentsOf, commandText, type ReadAction } from './read-action.ts';
import { plannedWrite, rehearse } from './rehearsal.ts';
import { confirmingPrompts, type RunResult, runAction } from './run-action.ts';
import { ACTIONS } from './table.ts';
import { effectOf } from './writes.ts';

/** Environment of the actions of one run of `stowage ui`. */
export interface ActionScene {
  run: Run;
  io: Io;
  connection: Connection;
  flags: GlobalFlags;
}

/** Maximum lines of remarks, and steps on a node. */
const MOST_LINES = 50;

/** Codes with which `--dry-run=plan` refuses. Any other one leaves the steps unknown. */
const REFUSALS: ReadonlySet<string> = new Set(['conflict', 'usage']);

type Planned = Omit<PlanAnswer, 'plan' | 'seconds'>;

/**
 * Plans an action without any write: runs its own command until the first write, and observes the
 * node if the command has a plan for it. Returns what to show, and what the run is bound to if
 * there is something to run.
 * @param signal ends the plan
 */
export async function planAction(
  read: ReadAction,
  scene: ActionScene,
  signal: AbortSignal,
): Promise<{ answer: Planned; plan: Plan | undefined }> {
  const { command } = read;
  const [steps, rehearsed] = await Promise.all([
    stepsOf(read, scene, signal),
    rehearsal(read, scene, signal),
  ]);
  const { question, losses, notes, write, result, isOver } = rehearsed;
  const confirm = question !== '' || command.isConsent ? command.confirm : '';
  // The node names content that may be overwritten, so its refusal comes first.
  const refusal = steps.refusal ?? (isOver ? undefined : refusalIn(result));
  const answer: Planned = {
    command: commandText(command, scene.flags),
    steps: steps.shown,
    writes: write === undefined ? [] : [plannedWrite(write)],
    losses,
    question,
    confirm: refusal === undefined && isOver ? confirm : '',
    notes: [...(command.further === undefined ? [] : [command.further]), ...notes].slice(
      0,
      MOST_LINES,
    ),
    ...(refusal !== undefined && { refusal }),
  };
  if (refusal !== undefined || !isOver) return { answer, plan: undefined };
  return {
    answer,
    plan: {
      ...{ argv: read.argv, confirm, question, losses: losses.join('\n') },
      effect: write && effectOf(write),
    },
  };
}

/** Runs the command until its first write. */
async function rehearsal(read: ReadAction, scene: ActionScene, signal: AbortSignal) {
  const { connection, write, isOver } = rehearse(scene.connection);
  const lines: string[] = [];
  let question = '';
  let losses: string[] = [];
  const prompts = confirmingPrompts((asked) => {
    question = publicName(asked);
    losses = lines.splice(0);
    return true;
  });
  const result = await runAction(scene.run, scene.io, {
    argv: [...globalArguments(scene.flags), ...read.argv],
    connection,
    prompts,
    signal,
    onLine: (line) => void lines.push(line),
  });
  return { question, losses, notes: lines, write: write(), result, isOver: isOver() };
}

interface Steps {
  shown: PlanAnswer['steps'];
  refusal?: PlanRefusal;
}

/** Returns the steps on the node, by `--dry-run=plan`. */
async function stepsOf(read: ReadAction, scene: ActionScene, signal: AbortSignal): Promise<Steps> {
  if (ACTIONS[read.action].plans === undefined) return { shown: { missing: '' } };
  const result = await runAction(scene.run, scene.io, {
    argv: [...globalArguments(scene.flags), ...argumentsOf(read.command, ['--dry-run=plan'])],
    connection: rehearse(scene.connection).connection,
    prompts: confirmingPrompts(() => false),
    signal,
    onLine() {},
  });
  const { error } = result;
  if (error === undefined) return { shown: { found: stepNames(result.data) } };
  const shown = { missing: error.message };
  const refusal = REFUSALS.has(error.code) ? refusalIn(result) : undefined;
  return { shown, ...(refusal !== undefined && { refusal }) };
}

function stepNames(plan: unknown): string[] {
  const steps: unknown = Reflect.get(plan ?? {}, 'steps');
  return (Array.isArray(steps) ? steps : [])
    .slice(0, MOST_LINES)
    .map((step: unknown) => publicName(Reflect.get(step ?? {}, 'name')));
}

function refusalIn({ error, detail }: RunResult): PlanRefusal | undefined {
  if (error === undefined) return undefined;
  return { ...error, overwrite: contentIn(detail?.parameters.overwrite) };
}

/** Returns the content that a refusal names for `spec.overwrite`, which it quotes as JSON. */
function contentIn(quoted: unknown): string {
  try {
    const content: unknown = JSON.parse(String(quoted));
    return publicName(content);
  } catch {
    return '';
  }
}
