import type { EventToSend } from './event.ts';

/** How much room there is, and how a node does not answer: different each time that it is looked at. */
const CHANGES = /room for \d+ bytes|is not known: [^;]*/g;

/** What an event tells, by which it is told once, and not each time that no more than a figure in it is another one. */
export const saidBy = ({ reason, message }: EventToSend): string =>
  `${reason}: ${withoutFigures(message)}`;

/** A message without what is different each time. */
export const withoutFigures = (message: string): string => message.replaceAll(CHANGES, '');
