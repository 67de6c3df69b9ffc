import { type Command, Option } from 'commander';
import { durationOption } from '../parse.ts';

export interface CreateFlags {
  dryRun: 'none' | 'client' | 'server';
  output?: 'json' | 'yaml' | 'name';
}

/** Flags for waiting until the request is fulfilled. */
export interface WaitFlags {
  wait?: boolean;
  /** ms */
  timeout: number;
}

/** Default of the maximum wait. */
const WAIT = '5m';
export const WAIT_MS = 300_000;

const DRY_RUNS = ['none', 'client', 'server'];

/**
 * Adds the options for creating objects, or for another write. `withPlan`: one more dry run
 * observes nodes, and prints the commands that would run there.
 */
export function addCreateOptions(command: Command, withPlan = false, write = 'create'): Command {
  return command
    .addOption(
      new Option(
        '--dry-run <mode>',
        `${write} nothing: client checks here, server validates the request${withPlan ? ', plan prints the commands for the node' : ''}`,
      )
        .choices(withPlan ? [...DRY_RUNS, 'plan'] : DRY_RUNS)
        .default('none'),
    )
    .addOption(
      new Option('-o, --output <format>', 'output format').choices(['json', 'yaml', 'name']),
    );
}

export function addWaitOptions(command: Command, what: string): Command {
  return command
    .option('--wait', what)
    .addOption(durationOption('--timeout <duration>', 'maximum time to wait', WAIT));
}
