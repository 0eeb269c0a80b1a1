"""
Frames in a pipeline with GridSearchCV
======================================

Every method is a scikit-learn transformer: frames go in, frames come out, and the number of factors is searched.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import unbraid as ub

# %%
# Five sensors see three independent sources; the target depends on one of them.
rng = np.random.default_rng(0)
sources = rng.uniform(-1, 1, size=(500, 3))
sensors = pandas.DataFrame(sources @ rng.normal(size=(3, 5)), columns=[f"sensor {i}" for i in range(5)])
target = sources[:, 0]

# %%
pipeline = make_pipeline(ub.PCAICA(random_state=0).set_output(transform="pandas"), Ridge(1e-3))
search = GridSearchCV(pipeline, {"pcaica__n_factors": [1, 2, 3]}, cv=4).fit(sensors, target)
print(search.best_params_, f"R2 {search.best_score_:.4f}")
codes = search.best_estimator_[0].transform(sensors)
print(codes.head(3))

# %%
# Columns in another order are refused, never misread.
try:
    search.predict(sensors[sensors.columns[::-1]])
except ValueError as error:
    print(str(error).splitlines()[0])

# %%
plt.figure(figsize=(5, 3), layout="constrained")
plt.plot([1, 2, 3], search.cv_results_["mean_test_score"], "o-")
plt.xticks([1, 2, 3])
plt.xlabel("number of factors")
plt.ylabel("R2 on rows held out")
