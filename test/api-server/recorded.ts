import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from '@jest/globals';
import { until } from '../support/until.ts';
import type { Answer, Client } from './client.ts';
import { normalized, withoutVersion, withSortedCauses } from './normalized.ts';
import { empty, type Suite } from './server.ts';

type Call = Parameters<Client['request']>;

/** A wait for an object with these fields, or for a response with this code. */
type Wait = { at: string } & ({ has: object } | { code: number });

/** A request whose response lists the entries of a map, which the real server orders randomly. */
type OfMap = { ofMap: Call };

/**
 * A write that may change only managedFields, which the sandbox does not have. The comparison omits
 * the resulting version.
 */
type Unversioned = { unversioned: Call };

/** A request or a wait, or a function of the responses before it. */
type Plain = Call | OfMap | Unversioned | Wait;
export type Step = Plain | ((answers: Answer[]) => Plain);

/**
 * Directory to write a server's responses to, instead of comparing them. The responses of the real
 * server, in answers/ here, are the reference for all servers.
 */
const RECORDING = process.env.STOWAGE_RECORD_ANSWERS;
const FOLDER = RECORDING ?? join(import.meta.dirname, 'answers');

/**
 * Declares cases whose responses, with codes, bodies and warnings, must equal those of a real
 * server in answers/NAME.json.
 * `paths` are the paths of the cases' objects.
 */
export function recorded(name: string, paths: string[], cases: Record<string, Step[]>): Suite {
  const file = join(FOLDER, `${name}.json`);
  return (server) => {
    const used = new Set<string>();
    afterEach(async () => {
      for (const path of paths)
        if (used.has(withoutQuery(path))) await empty(server().client, path);
      used.clear();
    });
    const answers: Record<string, unknown[]> = existsSync(file)
      ? JSON.parse(readFileSync(file, 'utf8'))
      : {};
    test.each(Object.keys(cases))('%s', async (title) => {
      const note = (path: string) => used.add(withoutQuery(path));
      const seen = normalized(await carryOut(server().client, cases[title] ?? [], note));
      if (RECORDING !== undefined) answers[title] = seen;
      else expect(seen).toEqual(answers[title]);
    });
    if (RECORDING === undefined) return;
    afterAll(() => {
      mkdirSync(FOLDER, { recursive: true });
      const known = Object.keys(cases).filter((title) => answers[title] !== undefined);
      writeFileSync(
        file,
        formatted(Object.fromEntries(known.map((title) => [title, answers[title] ?? []]))),
      );
    });
  };
}

const withoutQuery = (path: string) => path.split('?')[0] ?? '';

/** Formats each response as one line, so that diffs show single responses. */
function formatted(answers: Record<string, unknown[]>): string {
  const cases = Object.entries(answers).map(([title, all]) => {
    const lines = all.map((one) => `  ${JSON.stringify(one)}`);
    return ` ${JSON.stringify(title)}: [\n${lines.join(',\n')}\n ]`;
  });
  return `{\n${cases.join(',\n')}\n}\n`;
}

async function carryOut(
  client: Client,
  steps: Step[],
  note: (path: string) => void,
): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (const given of steps) {
    const step = typeof given === 'function' ? given(answers) : given;
    if (Array.isArray(step)) {
      note(step[1]);
      answers.push(await client.request(...step));
    } else if ('ofMap' in step) {
      note(step.ofMap[1]);
      answers.push(withSortedCauses(await client.request(...step.ofMap)));
    } else if ('unversioned' in step) {
      note(step.unversioned[1]);
      answers.push(withoutVersion(await client.request(...step.unversioned)));
    } else
      await until(JSON.stringify(step), async () => {
        const { code, body } = await client.request('GET', step.at);
        return ('has' in step ? matches(body, step.has) : code === step.code) || undefined;
      });
  }
  return answers;
}

function matches(value: unknown, wanted: object): boolean {
  try {
    expect(value).toMatchObject(wanted as Record<string, unknown>);
    return true;
  } catch {
    return false;
  }
}
