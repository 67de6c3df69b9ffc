import type { LockOwner, NodeHold } from './types.ts';

/** What stands beside a backing file on a directory that nodes share. */

const NODE = '[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?';
const TOKEN = '[a-z0-9]{1,64}';
const BOOT_ID = '[0-9a-f-]{36}';

export const ownerPath = (file: string, number: number) => `${file}.owner.${number}`;
export const markPath = (file: string, { node, token }: LockOwner) =>
  `${file}.reader.${node}-${token}`;
/** Under this name a file is written, before it gets the one that others look at. */
export const unfinishedPath = (file: string, { node, token }: LockOwner) =>
  `${file}.new.${node}-${token}`;

/** Patterns of what comes after the backing file's name. */
export const OWNER_NAME = /^\.owner\.([1-9]\d{0,14})$/;
export const NODE_NAME = new RegExp(`^\\.(reader|new)\\.(${NODE})-${TOKEN}$`);

const parts = { node: NODE, bootId: BOOT_ID, token: TOKEN } as const;
const matches = (name: keyof typeof parts, value: string) =>
  new RegExp(`^(?:${parts[name]})$`).test(value);

/** Whether these are names that go into a file's name and a record as they are. */
export const isHolder = ({ node, bootId, token }: NodeHold): boolean =>
  matches('node', node) && matches('bootId', bootId) && matches('token', token);

export const isLockOwner = ({ node, token }: LockOwner): boolean =>
  matches('node', node) && matches('token', token);
