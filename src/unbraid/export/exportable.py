"""The base that gives estimators ``export_onnx``."""

import os
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from unbraid.estimator.base import Estimator
from unbraid.export.card import model_card
from unbraid.export.graphs import Graphs, write_graph


class Exportable(Estimator):
    """An estimator whose ``_graphs`` returns its encoder and decoder as torch modules."""

    transform: Any
    inverse_transform: Any

    def _graphs(self) -> Graphs:
        raise NotImplementedError

    def export_onnx(self, folder: str | os.PathLike[str], *, evaluation: Any = None, about: str = "") -> Path:
        """Write the model as ONNX graphs, with a model card and the saved model.

        The folder has the layout of a hub: ``README.md`` (what it is, how it was made, how far to trust it),
        ``encoder.onnx``, ``decoder.onnx``, and the saved run (``config.json`` and a ``.safetensors`` file), which
        :func:`unbraid.load` reads. Every graph is run by onnxruntime and compared with the model before it is kept.

        Parameters
        ----------
        folder : path
            A new folder, or one that holds a saved run, which is replaced.
        evaluation : Evaluation, optional
            What :func:`unbraid.evaluate` found, for the card.
        about : str
            The card's first paragraph; by default a sentence on the method and the data.

        Returns
        -------
        Path
            The folder.
        """
        check_is_fitted(self)
        graphs = self._graphs()
        target = self.save(folder)
        encoder, decoder = target / "encoder.onnx", target / "decoder.onnx"
        files = [write_graph(graphs.encoder, graphs.rows, encoder, ("rows", "codes"), self.transform)]
        decoder.unlink(missing_ok=True)
        if graphs.decoder is not None:
            codes = np.asarray(self.transform(graphs.rows), np.float32)
            files.append(write_graph(graphs.decoder, codes, decoder, ("codes", "rows"), self.inverse_transform))
        card = model_card(self, self.summary(), files, evaluation, about)
        (target / "README.md").write_text(card, encoding="utf-8")
        return target
