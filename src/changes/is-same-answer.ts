/** Whether an answer is the known one and hides as much as it did: such a one changes nothing. A list that is taken for whole now shows what is gone. */
export const isSameAnswer = (
  known: { responseId: number; unreturned: readonly unknown[] } | null | undefined,
  answer: { responseId: number; truncated: boolean },
): boolean => known?.responseId === answer.responseId && (answer.truncated || known.unreturned.length === 0);
