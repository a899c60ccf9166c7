/** A word, or neighbouring words read as one, of a name: the places of the words, from 0. */
export interface NamePiece {
  places: readonly number[];
}

/** A piece of a listed spelling by the number of its word. */
export interface ListedPiece extends NamePiece {
  id: number;
}

/** A piece of a name that is looked up, with the listed words that it may be and how alike they are. */
export interface AskedPiece extends NamePiece {
  likeIds: ReadonlyMap<number, number>;
}

/** A name ready to be judged: how much each of its words says about who is meant (0 to 1), the words, and its pieces. */
export interface WeighedName<Piece extends NamePiece> {
  weights: readonly number[];
  texts: readonly string[];
  pieces: readonly Piece[];
}
