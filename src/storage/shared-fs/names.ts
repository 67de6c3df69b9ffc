import type { LockOwner, NodeHold } from './types.ts';

/** Names of the files beside a backing file in a directory that nodes share. */

const NODE = '[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?';
const TOKEN = '[a-z0-9]{1,64}';
const BOOT_ID = '[0-9a-f-]{36}';

export const ownerPath = (file: string, number: number) => `${file}.owner.${number}`;
export const markPath = (file: string, { node, token }: LockOwner) =>
  `${file}.reader.${node}-${token}`;
/** Returns the name under which a file is written before it gets the name that others read. */
export const unfinishedPath = (file: string, { node, token }: LockOwner) =>
  `${file}.new.${node}-${token}`;

/** Patterns of the suffixes of the backing file's name. */
export const OWNER_NAME = /^\.owner\.([1-9]\d{0,14})$/;
export const NODE_NAME = new RegExp(`^\\.(reader|new)\\.(${NODE})-${TOKEN}$`);

const parts = { node: NODE, bootId: BOOT_ID, token: TOKEN } as const;
const matches = (name: keyof typeof parts, value: string) =>
  new RegExp(`^(?:${parts[name]})$`).test(value);

/** Reports whether the parts can be in a file name and in a record without escaping. */
export const isHolder = ({ node, bootId, token }: NodeHold): boolean =>
  matches('node', node) && matches('bootId', bootId) && matches('token', token);

export const isLockOwner = ({ node, token }: LockOwner): boolean =>
  matches('node', node) && matches('token', token);
