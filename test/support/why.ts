import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { execa } from 'execa';
import type { Link } from '../../src/cli/why/types.ts';
import { expectSchema } from './output-page.ts';
import { temporaryDirectory } from './temporary-directory.ts';
import { until } from './until.ts';

/** Output of `why -o json`, as documented in docs/output.md. */
export interface WhyOutput {
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
  /** Pattern of the lines to run. Default: all. */
  only?: RegExp;
  /** Values for placeholders in capitals. */
  fill?: Readonly<Record<string, string>>;
  /** Command after the first line, such as an edit of the file that the line writes. */
  between?: string;
}

/** Person with a shell who runs `why` and follows its output. */
export interface Person {
  /** Runs `stowage why WHAT`, and checks the output against its schema. */
  why(what: string): Promise<WhyOutput>;
  /** Applies the YAML, then runs all commands as printed. */
  follow(said: WhyOutput, options?: Following): Promise<void>;
  /** Waits until this cause blocks the object. */
  untilCause(what: string, cause: string | readonly string[]): Promise<WhyOutput>;
  /** Waits until another cause blocks the object, or none. */
  untilNot(what: string, cause: string): Promise<WhyOutput>;
  shell(line: string, input?: string): Promise<string>;
  /** Adds a program that takes precedence over installed ones. */
  program(name: string, text: string): Promise<void>;
  folder: string;
  leave(): Promise<void>;
}

/** @param env variables in addition to `KUBECONFIG` and `PATH` */
export async function person(
  kubeconfig: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Person> {
  const folder = await temporaryDirectory('why');
  const bin = join(folder.path, 'bin');
  await mkdir(bin);

  async function shell(line: string, input = ''): Promise<string> {
    const { stdout } = await execa('sh', ['-euc', line], {
      env: {
        KUBECONFIG: kubeconfig,
        PATH: `${bin}:${process.cwd()}/bin:${process.env.PATH}`,
        ...env,
      },
      // Printed commands may name files of the checkout, and may write files there.
      cwd: process.cwd(),
      input,
      timeout: 120_000,
    });
    return stdout;
  }

  async function why(what: string): Promise<WhyOutput> {
    const said = JSON.parse(await shell(`stowage why ${what} -o json`)) as WhyOutput;
    expectSchema('why', said);
    return said;
  }

  /** The error contains the last output. */
  async function asked(
    what: string,
    wish: string,
    isIt: (said: WhyOutput) => boolean,
  ): Promise<WhyOutput> {
    let last: WhyOutput | undefined;
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
      // Files that a command writes must not be in the checkout.
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

/** Expects the parts that every diagnosis must have: cause, next attempt, fix and chain. */
export function expectDiagnosis(said: WhyOutput, cause: string, ...chain: string[]): void {
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
