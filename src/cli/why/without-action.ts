import { actionOf, messageOf, type Reason } from '../../api/reasons.ts';
import { withHint } from '../../nodes/job-text.ts';

/**
 * Returns a recorded message without the action of its reason, if it contains both as this version
 * builds them. Keeps what a controller added, such as the way out for a lost node. Pure.
 */
export function withoutAction(message: string, reason: Reason): string {
  const sentence = messageOf(reason);
  const action = actionOf(reason);
  if (sentence === undefined || action === undefined) return message;
  // `explain` keeps a period at the end of the sentence.
  const texts = [withHint(sentence, action), `${sentence}. ${action}`];
  const whole = texts.find((text) => message.includes(text));
  if (whole === undefined) return message;
  const at = message.indexOf(whole);
  const rest = message.slice(at + whole.length);
  const period = rest !== '' && whole.endsWith('.') ? '.' : '';
  return `${message.slice(0, at)}${sentence}${period}${rest}`;
}
