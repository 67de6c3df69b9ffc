import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { execa } from 'execa';
import type { Link } from '../../src/cli/why/types.ts';
import { expectSchema } from './output-page.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { until } from './until.ts';

/** What `why -o json` prints, as docs/output.md says it. */
export interface Said {
  object: Link;
  chain: Link[];
  nothing?: string;
  cause?: string;
  holdup?: string;
  since?: string;
  nextTry?: string;
  next?: { at?: string; when?: string };
  fix?: { say: string; yaml?: string; run?: string[]; command?: string };
}

export interface Following {
  /** The lines that are meant, where not all are. */
  only?: RegExp;
  /** Words in capitals that a person fills in. */
  fill?: Readonly<Record<string, string>>;
  /** What a person does to the file that the first command writes. */
  between?: string;
}

/** A person with a shell, who asks why and does what is said. */
export interface Person {
  /** `stowage why WHAT`; what it prints is held to its schema. */
  why(what: string): Promise<Said>;
  /** Applies the YAML, then runs the commands, all of them as they were printed. */
  follow(said: Said, options?: Following): Promise<void>;
  /** Until that is what holds it up. */
  untilCause(what: string, cause: string | readonly string[]): Promise<Said>;
  /** Until it is held up by something else, or by nothing. */
  untilNot(what: string, cause: string): Promise<Said>;
  /** Runs a line in a shell. */
  shell(line: string, input?: string): Promise<string>;
  /** Puts a program of this text before all others. */
  program(name: string, text: string): Promise<void>;
  folder: string;
  leave(): Promise<void>;
}

/** @param env beside that, `KUBECONFIG` */
export async function person(
  kubeconfig: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Person> {
  const folder = await temporaryFolder('why');
  const bin = join(folder.path, 'bin');
  await mkdir(bin);

  async function shell(line: string, input = ''): Promise<string> {
    const { stdout } = await execa('sh', ['-euc', line], {
      env: {
        KUBECONFIG: kubeconfig,
        PATH: `${bin}:${process.cwd()}/bin:${process.env.PATH}`,
        ...env,
      },
      // Where what is printed names files of a checkout, and leaves files of its own.
      cwd: process.cwd(),
      input,
      timeout: 120_000,
    });
    return stdout;
  }

  async function why(what: string): Promise<Said> {
    const said = JSON.parse(await shell(`stowage why ${what} -o json`)) as Said;
    expectSchema('why', said);
    return said;
  }

  /** What was said instead is in the error. */
  async function asked(what: string, wish: string, isIt: (said: Said) => boolean): Promise<Said> {
    let last: Said | undefined;
    return until(`${what} ${wish}`, async () => {
      last = await why(what);
      return isIt(last) ? last : undefined;
    }).catch((cause: Error) => {
      throw new Error(`${cause.message}: ${last?.cause} ${last?.holdup ?? last?.nothing}`, {
        cause,
      });
    });
  }

  return {
    folder: folder.path,
    shell,
    why,
    untilCause: (what, cause) =>
      asked(what, `is held up by ${cause}`, (said) =>
        [cause].flat().some((each) => each === said.cause),
      ),
    untilNot: (what, cause) =>
      asked(what, `moves on from ${cause}`, (said) => said.cause !== cause),
    async follow({ fix, holdup }, { only, fill = {}, between } = {}) {
      const { yaml, run = [] } = fix ?? {};
      const filled = (line: string) =>
        line.replaceAll(/\b[A-Z]{2,}\b/g, (word) => fill[word] ?? word);
      const lines = run.filter((line) => only === undefined || only.test(line)).map(filled);
      if (yaml === undefined && lines.length === 0)
        throw new Error(`nothing to run is printed: ${holdup}`);
      if (yaml !== undefined) await shell('kubectl apply -f -', yaml);
      const [first, ...rest] = lines;
      // Files that a command writes are not to lie in the checkout.
      const here = (line: string) =>
        `cd ${folder.path} && ln -sfn ${process.cwd()}/deploy deploy && ${line}`;
      if (first !== undefined) await shell(here(first));
      if (between !== undefined) await shell(here(between));
      for (const line of rest) await shell(here(line));
    },
    async program(name, text) {
      await writeFile(join(bin, name), `#!/bin/sh\n${text}\n`);
      await chmod(join(bin, name), 0o755);
    },
    leave: () => folder.remove(),
  };
}

/** As much of what is said as each cause has to have: since when, what is tried next, and what ends it. */
export function expectSaid(said: Said, cause: string, ...chain: string[]): void {
  expect(said).toMatchObject({
    cause,
    holdup: expect.any(String),
    nextTry: expect.any(String),
    fix: { say: expect.any(String) },
  });
  const text = ({ kind, namespace, name }: Link) =>
    `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
  expect(said.chain.map(text)).toEqual(chain.map((each) => expect.stringMatching(each)));
}
