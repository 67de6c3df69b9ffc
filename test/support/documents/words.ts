/** Words that have a standard term, in comments, names of tests, messages and documents. */
const PRIVATE =
  /\b(?:heed(?:s|ed|ing)?|whoever|amiss|anew|in vain|let(?:s|ting)? go|g(?:iv(?:e|es|en|ing)|ave) (?:\w+ )?up|g(?:ive|ives|iven|iving|ave) (?:\w+ )?back|for good|folders?|(?:an?|the|each|no|its) looks?)\b/i;

/** Openings of sentences of comments whose subject the reader has to guess. */
export const COMMENT_OPENING = /^(?:What|Of|Where|One|That|Who|Those|Whoever)\b/;

/** Openings of sentences of documents whose subject the reader has to guess. */
export const DOCUMENT_OPENING =
  /^(?:What|Of|Where|That|Who|Those|Whoever|One (?:of|that|without|whose|recorded))\b/;

/**
 * Returns whether a text has a private word, apart from names of parameters: `folder`, `{folder}`.
 */
export const hasPrivateWord = (text: string): boolean =>
  PRIVATE.test(text.replaceAll(/`[^`]*`|\{\w+\}|@param \w+/g, ''));
