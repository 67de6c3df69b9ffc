import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { execa } from 'execa';

export interface TypeOptions {
  /** Standard input, shown after the command. */
  input?: string;
  /** Expected exit status. Default: 0. */
  exit?: number;
}

/** Shows and runs the commands of the demo, and undoes what they left. */
export class Stage {
  readonly folder: string;
  readonly interactive: boolean;
  readonly kubeconfig: string;
  /** UIDs of Volumes that existed before a deletion. */
  readonly uids = new Set<string>();
  readonly #cleanUps: (() => Promise<unknown>)[] = [];

  /** @param folder directory for files of the demo */
  constructor(folder: string, interactive: boolean) {
    this.folder = folder;
    this.interactive = interactive;
    this.kubeconfig = join(folder, 'kubeconfig');
  }

  /** Prints what the next commands show. If interactive, waits for Enter first. */
  async say(text: string): Promise<void> {
    if (this.interactive) {
      const terminal = createInterface({ input: process.stdin, output: process.stdout });
      terminal.setPrompt('\n[Enter] ');
      terminal.prompt();
      // The end of standard input counts as Enter.
      if (!process.stdin.readableEnded)
        await Promise.race([once(terminal, 'line'), once(terminal, 'close')]);
      terminal.close();
    }
    console.log(`\n# ${text}`);
  }

  /**
   * Shows a command as a user would type it, runs it, and shows its output. Returns standard output
   * and standard error. Throws an Error for another exit status than expected.
   */
  async type(
    command: string,
    args: readonly string[],
    { input, exit = 0 }: TypeOptions = {},
  ): Promise<{ stdout: string; stderr: string }> {
    if (args.includes('delete')) await this.noteVolumes();
    console.log(`$ ${commandLine(command, args)}`);
    if (input !== undefined) console.log(input.trimEnd());
    const { exitCode, all, stdout, stderr } = await execa(command, args, {
      ...{ env: this.env, reject: false, all: true },
      ...(input === undefined ? {} : { input }),
    });
    if (all !== '') console.log(all);
    if (exit !== 0) console.log(`(exit status ${exitCode})`);
    if (exitCode !== exit)
      throw new Error(`${commandLine(command, args)} ended with ${exitCode}, and not with ${exit}`);
    return { stdout, stderr };
  }

  readonly stowage = (...args: string[]) => this.type('stowage', args);

  /** Applies a manifest, which is shown. */
  readonly apply = (manifest: string) =>
    this.type('kubectl', ['apply', '-f', '-'], { input: manifest });

  async noteVolumes(): Promise<void> {
    const of = ['-o', 'jsonpath={.items[*].metadata.uid}'];
    const found = await this.run('kubectl', 'get', 'volumes', ...of);
    for (const uid of found.split(' ').filter(Boolean)) this.uids.add(uid);
  }

  /** Runs a command without showing it. */
  async run(command: string, ...args: string[]): Promise<string> {
    return (await execa(command, args, { env: this.env })).stdout;
  }

  /** Shows and starts a command that ends with the demo. */
  async start(...args: string[]): Promise<ChildProcess> {
    console.log(`$ stowage ${args.join(' ')} &`);
    const child = spawn('stowage', args, {
      env: { ...process.env, ...this.env },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const lines: Buffer[] = [];
    child.stderr?.on('data', (chunk: Buffer) => lines.push(chunk));
    const ended = once(child, 'exit');
    this.onEnd(async () => {
      child.kill('SIGTERM');
      await ended;
      await writeFile(join(this.folder, `${args[0]}.log`), Buffer.concat(lines));
    });
    return child;
  }

  /** Registers a function that runs when the demo ends, the last one first. */
  onEnd(undo: () => Promise<unknown>): void {
    this.#cleanUps.push(undo);
  }

  /** Runs all clean-up functions, even if one fails. Returns their errors. */
  async end(): Promise<unknown[]> {
    const errors: unknown[] = [];
    for (const undo of this.#cleanUps.reverse())
      await undo().catch((error: unknown) => errors.push(error));
    return errors;
  }

  get env(): Record<string, string> {
    return { KUBECONFIG: this.kubeconfig, PATH: `${this.folder}/bin:${process.env.PATH}` };
  }
}

/** Quotes words where a shell needs it. */
const commandLine = (command: string, args: readonly string[]) =>
  [command, ...args].map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word}'`)).join(' ');

export const isThere = async (program: string): Promise<boolean> =>
  (await execa('sh', ['-c', 'command -v "$1"', 'sh', program], { reject: false })).exitCode === 0;
