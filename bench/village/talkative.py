"""The village's model, which opens a conversation every other time that it is asked."""

from functools import partial

from packs.village import model

OPENING = 0.5

if __name__ == "__main__":
    model.main(partial(model.answer, opening=OPENING))
