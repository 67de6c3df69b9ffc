import { StowageError } from '../../../api/errors.ts';
import type { RunMessage, UiError } from '../../../ui/protocol.ts';
import { namespaceName } from '../../lib/parse.ts';
import { publicName } from '../public-text.ts';
import { globalArguments } from '../run-command.ts';
import { choicesArguments, readChoices } from './choices.ts';
import { createLineQueue } from './line-queue.ts';
import { type ActionScene, planAction } from './plan-action.ts';
import { createPlans, PLAN_MS, type Plan } from './plans.ts';
import { type FieldProblem, type ReadAction, readAction } from './read-action.ts';
import { createRightsReader } from './rights.ts';
import { confirmingPrompts, runAction } from './run-action.ts';
import { expectingWrite, notAsPlanned } from './writes.ts';

/** Requests about actions. */
export type ActionCall = 'plan' | 'run' | 'choices' | 'rights';

/** Answer of a request: JSON, lines of JSON that follow a command, or a refusal. */
export type ActionReply =
  | { body: object }
  | { lines: (signal: AbortSignal) => AsyncGenerator<string> }
  | { refusal: UiError; status: number };

export interface Actions {
  /**
   * @param body parsed JSON; undefined if the body is no JSON object
   * @param key valid key of the session, to which plans belong
   */
  answer(call: ActionCall, body: object | undefined, key: string): Promise<ActionReply>;
  /** Resolves once no command runs anymore. */
  ended(): Promise<void>;
}

/** Commands that run at a time. Another one is refused, and its plan stays valid. */
const MOST_RUNNING = 4;
/** Plans and choices that are read at a time: each may observe a node. */
const MOST_READING = 4;
/** Time (ms) after which a plan or a list of choices is ended. */
const DEADLINE = 120_000;

const refused = (status: number, code: UiError['code'], error: string): ActionReply => ({
  status,
  refusal: { code, error },
});

const wrongField = ({ problem, field }: FieldProblem): ActionReply => ({
  status: 400,
  refusal: { code: 'wrong-field', error: problem, ...(field !== undefined && { field }) },
});

/**
 * Creates the actions of the page: commands of Stowage that run in this process with the user's
 * rights. A run needs the id of a plan of the same session for exactly the same arguments, and its
 * first write must be the one that the plan showed.
 */
export function createActions(scene: ActionScene): Actions {
  const { run, io, connection, flags } = scene;
  const { clock } = io;
  const plans = createPlans(clock);
  const rightsIn = createRightsReader(connection, clock, io.signal);
  const running = new Set<Promise<void>>();
  let reading = 0;

  /** Runs work that only reads, within the deadline. */
  async function limited(work: (signal: AbortSignal) => Promise<object>): Promise<ActionReply> {
    if (reading >= MOST_READING)
      return refused(429, 'too-many', 'Too many plans are being made: try again in a moment');
    reading += 1;
    const ending = new AbortController();
    const done = new AbortController();
    clock.sleep(DEADLINE, AbortSignal.any([done.signal, io.signal])).then(
      () => ending.abort(new StowageError('timeout', `timed out after ${DEADLINE / 1000} s`)),
      () => {},
    );
    try {
      return { body: await work(ending.signal) };
    } finally {
      reading -= 1;
      done.abort();
    }
  }

  async function plan(body: object, key: string): Promise<ActionReply> {
    const read = readAction(body);
    if ('problem' in read) return wrongField(read);
    return limited(async (signal) => {
      const { answer, plan } = await planAction(read, scene, signal);
      const id = plan === undefined ? '' : plans.add(plan, key);
      return { ...answer, plan: id, seconds: PLAN_MS / 1000 };
    });
  }

  function start(body: object, key: string): ActionReply {
    const read = readAction(body, ['plan', 'confirm']);
    if ('problem' in read) return wrongField(read);
    if (running.size >= MOST_RUNNING)
      return refused(429, 'too-many', `${MOST_RUNNING} actions run already: wait for one of them`);
    const { plan: id, confirm } = body as { plan?: unknown; confirm?: unknown };
    const found = typeof id === 'string' ? plans.take(id, key, read.argv) : undefined;
    if (found === undefined)
      return refused(409, 'no-plan', 'The plan was run, is too old, or is for another action');
    if (found.confirm !== '' && confirm !== found.confirm)
      return refused(409, 'not-confirmed', 'The confirmation is missing: nothing was done');
    return { lines: follow(read, found) };
  }

  /** Starts the command, which goes on without a reader. */
  function follow(read: ReadAction, { confirm, question, losses, effect }: Plan) {
    const queue = createLineQueue();
    const send = (message: RunMessage) => `${JSON.stringify(message)}\n`;
    const before: string[] = [];
    let hasAsked = false;
    const prompts = confirmingPrompts((asked) => {
      // The user confirmed what the plan showed, and nothing else.
      const isShown = publicName(asked) === question && before.join('\n') === losses;
      if (confirm === '' || hasAsked || !isShown) throw notAsPlanned();
      hasAsked = true;
      return true;
    });
    const done = runAction(run, io, {
      argv: [...globalArguments(flags), ...read.argv],
      connection: expectingWrite(connection, effect),
      prompts,
      onLine(text) {
        before.push(text);
        queue.push(send({ type: 'progress', text }));
      },
    }).then(({ exitCode, object, error }) => {
      queue.end(
        send({
          type: 'end',
          exitCode,
          ...(object !== undefined && { object }),
          ...(error !== undefined && { error }),
        }),
      );
    });
    running.add(done);
    void done.finally(() => running.delete(done));
    return queue.read;
  }

  async function rights(body: object): Promise<ActionReply> {
    const { namespace = connection.namespace, ...rest } = body as { namespace?: unknown };
    try {
      if (Object.keys(rest).length > 0 || typeof namespace !== 'string') throw new Error();
      namespaceName(namespace);
    } catch {
      return wrongField({ field: 'namespace', problem: 'There is no such namespace' });
    }
    return { body: { rights: await rightsIn(namespace) } };
  }

  return {
    async answer(call, body, key) {
      if (body === undefined) return refused(400, 'wrong-content', 'The body must be JSON');
      switch (call) {
        case 'plan':
          return plan(body, key);
        case 'run':
          return start(body, key);
        case 'choices': {
          const argv = choicesArguments(body);
          if ('problem' in argv) return wrongField(argv);
          return limited((signal) => readChoices(argv, scene, signal));
        }
        case 'rights':
          return rights(body);
      }
    },
    async ended() {
      await Promise.all(running);
    },
  };
}
