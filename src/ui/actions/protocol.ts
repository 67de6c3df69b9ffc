/** Messages about actions between the page of `stowage ui` and its server. Pure. */

/** Actions of the page. Each is a command of Stowage. */
export type ActionName =
  | 'createVolume'
  | 'deleteVolume'
  | 'resizeVolume'
  | 'retryVolume'
  | 'pauseVolume'
  | 'resumeVolume'
  | 'pauseNode'
  | 'resumeNode'
  | 'detachVolume'
  | 'createSnapshot'
  | 'restoreSnapshot'
  | 'grantSnapshot'
  | 'revokeGrant';

/** Values of an action's fields by name, as typed. A ticked field is true, others are left out. */
export type FieldValues = Readonly<Record<string, string | true>>;

/** Body of `POST /api/plan`: an action, and its fields beside it. */
export type PlanRequest = { action: ActionName } & Readonly<Record<string, string | true>>;

/** Body of `POST /api/run`: the body of the plan's request, its id, and the typed confirmation. */
export type RunRequest = PlanRequest & { plan: string; confirm?: string };

/** A write that the action begins with. The API server has checked it in a dry run. */
export interface PlannedWrite {
  verb: 'create' | 'change' | 'delete';
  kind: string;
  /** `NAME` or `NAMESPACE/NAME`. */
  name: string;
  /** YAML of what is sent; '' for a deletion. */
  manifest: string;
}

/** Error of a command, as `-o json` prints it. */
export interface ActionError {
  code: string;
  reason: string;
  message: string;
  hint: string;
}

/** Reason why an action would be refused. */
export interface PlanRefusal extends ActionError {
  /** Content that the node found, and that the field `overwrite` may name; '' if there is none. */
  overwrite: string;
}

/** Answer of `POST /api/plan`. */
export interface PlanAnswer {
  /** Id for one run within `seconds`; '' if there is nothing to run. */
  plan: string;
  seconds: number;
  /** Equal command line. */
  command: string;
  /** Steps on the node. Missing: why they are not known; '' for an action without a plan. */
  steps: { found: string[] } | { missing: string };
  writes: PlannedWrite[];
  /** Losses that the command asks about, one each. */
  losses: string[];
  /** Question of the command; '' if it asks none. */
  question: string;
  /** Text to type before the run; '' if no confirmation is needed. */
  confirm: string;
  /** Remarks of the command. */
  notes: string[];
  refusal?: PlanRefusal;
}

/** Lines of `POST /api/run`. */
export type RunMessage =
  | { type: 'progress'; text: string }
  | {
      type: 'end';
      exitCode: number;
      /** Object that the command printed; missing if it failed. */
      object?: { kind: string; name: string };
      error?: ActionError;
    };

/** Questions of the commands' wizards whose choices the page offers. */
export type ChoiceName = 'device' | 'group' | 'storageClass' | 'snapshot';

export interface Choice {
  value: string;
  text: string;
  /** Reason why it cannot be chosen; '' if it can. */
  disabled: string;
}

/** Answer of `POST /api/choices`. Without choices, the value is typed. */
export interface ChoicesAnswer {
  choices: Choice[];
  /** Remarks, such as a node that does not answer. */
  notes: string[];
}

export type ActionRights = Record<ActionName, { allowed: boolean; reason: string }>;

/** Answer of `POST /api/rights`. */
export interface RightsAnswer {
  rights: ActionRights;
}
