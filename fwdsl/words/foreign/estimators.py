"""Estimators of scikit-learn: the programs that they fit, or why they fit none."""

from __future__ import annotations

from .record import Foreign, alike, instead, out

_S = ("scikit-learn",)
_CV = "; `fwdsl path` with `--folds 5` chooses the weight by cross-validation"
_LASSO = "`minimize 1/2 * mean(squared(X @ w, y)) + alpha * norm1(w)`"
_NET = "`minimize 1/2 * mean(squared(X @ w, y)) + a * norm1(w) + b * sum_squares(w)`"
_RIDGE = "`minimize sum_squares(X @ w - y) + alpha * sum_squares(w)`"
_LOGISTIC = "`minimize C * sum(logistic(X @ w + b, y)) + 1/2 * sum_squares(w)`, with `softmax` for several classes"
_SVC = (
    "`minimize C * sum(hinge(Phi @ w + b, y)) + 1/2 * sum_squares(w)`, with `let Phi = rbf(X, gamma=0.5)` for a kernel"
)
_SVR = "`minimize C * sum(epsilon_insensitive(Phi @ w + b, y, eps=0.1)) + 1/2 * sum_squares(w)`"
_MULTI = "`minimize 1/2 * mean(squared(X @ W, Y)) + alpha * norm21(W)`, W with a row for each feature"
_TABLES = "feature maps are `standardize(X)`, `normalize(X)`, `intercept(X)`, `rbf`, `polynomial`, `fourier`; categories `onehot(column)`"

ESTIMATORS: tuple[Foreign, ...] = (
    instead(_S, "LinearRegression", told="`minimize sum_squares(X @ w - y)`"),
    *alike(_S, "Lasso LassoLars", _LASSO),
    *alike(_S, "LassoCV LassoLarsCV LassoLarsIC", _LASSO + _CV),
    instead(_S, "ElasticNet", told=_NET),
    instead(_S, "ElasticNetCV", told=_NET + _CV),
    *alike(_S, "Ridge", _RIDGE),
    instead(_S, "RidgeCV", told=_RIDGE + _CV),
    *alike(
        _S,
        "RidgeClassifier RidgeClassifierCV",
        "`minimize sum(squared(X @ w, y)) + alpha * sum_squares(w)` with `y: signs[n]`",
    ),
    instead(_S, "LogisticRegression", told=_LOGISTIC),
    instead(_S, "LogisticRegressionCV", told=_LOGISTIC + _CV),
    *alike(_S, "LinearSVC SVC", _SVC),
    *alike(_S, "LinearSVR SVR", _SVR),
    *alike(_S, "NuSVC NuSVR", "the same machines as `SVC` and `SVR` with another parameter: " + _SVC),
    instead(
        _S,
        "OneClassSVM",
        told="with `rho: real`: `minimize 1/2 * sum_squares(w) - rho + 1/(nu * n) * sum(s)` with `s >= rho - Phi @ w`, `s >= 0`",
    ),
    instead(
        _S,
        "SGDOneClassSVM",
        told="with `rho: real`: `minimize 1/2 * sum_squares(w) - rho + 1/(nu * n) * sum(s)` with `s >= rho - X @ w`, `s >= 0`",
    ),
    *alike(
        _S,
        "SGDClassifier SGDRegressor Perceptron PassiveAggressiveClassifier PassiveAggressiveRegressor",
        "write its loss and penalty: " + _SVC + "; `method = svrg` takes stochastic steps",
    ),
    instead(
        _S,
        "HuberRegressor",
        told="`minimize sum(huber(X @ w + b, y, delta=1.35)) + alpha * sum_squares(w)`, with a scale that is fixed",
    ),
    instead(_S, "QuantileRegressor", told="`minimize mean(quantile(X @ w + b, y, tau=0.9)) + alpha * norm1(w)`"),
    instead(_S, "PoissonRegressor", told="`minimize mean(poisson(X @ w + b, y)) + 1/2 * alpha * sum_squares(w)`"),
    instead(_S, "GammaRegressor", told="`minimize mean(gamma_loss(X @ w + b, y)) + 1/2 * alpha * sum_squares(w)`"),
    instead(
        _S,
        "TweedieRegressor",
        told="`minimize mean(tweedie_loss(X @ w + b, y, power=1.5)) + 1/2 * alpha * sum_squares(w)`",
    ),
    *alike(_S, "MultiTaskLasso", _MULTI),
    instead(_S, "MultiTaskLassoCV", told=_MULTI + _CV),
    *alike(_S, "MultiTaskElasticNet MultiTaskElasticNetCV", _MULTI + ", and `beta * sum_squares(W)`"),
    instead(_S, "IsotonicRegression", told="`minimize sum_squares(x - y)` subject to `x[1:] >= x[:-1]`"),
    instead(
        _S,
        "KernelRidge",
        told="`let Phi = rbf(X, gamma=0.5)`, `minimize sum(squared(Phi @ w, y)) + alpha * sum_squares(w)`",
    ),
    *alike(
        _S,
        "GraphicalLasso GraphicalLassoCV",
        "`minimize trace(S @ X) - log_det(X) + alpha * norm1(X - diag(diag(X)))` with `data S: psd[d]`, `var X: psd[d]`",
    ),
    *alike(
        _S,
        "RBFSampler Nystroem AdditiveChi2Sampler SkewedChi2Sampler PolynomialCountSketch",
        "`fourier(X, features=500, gamma=0.5)` and `random_binning` are random feature maps",
    ),
    instead(_S, "StandardScaler", told="`let Z = standardize(X)`"),
    instead(_S, "Normalizer", told="`let Z = normalize(X)`"),
    instead(_S, "PolynomialFeatures", told="`polynomial(X, degree=2)` is the feature map"),
    *alike(_S, "LabelBinarizer", '`columns=["a", onehot("b")]` in a source makes columns of 0 and 1'),
    instead(_S, "LabelEncoder", told="`y: labels[n, k]` or `y: signs[n]` maps classes itself"),
    *alike(
        _S,
        "GridSearchCV RandomizedSearchCV HalvingGridSearchCV HalvingRandomSearchCV",
        "`fwdsl grid` with `--folds 5`, or `problem.grid(values, folds=5)`; estimators of `fwdsl.sklearn` stand in these too",
    ),
    *alike(
        _S,
        "MinMaxScaler MaxAbsScaler RobustScaler PowerTransformer QuantileTransformer Binarizer KBinsDiscretizer "
        "SplineTransformer FunctionTransformer OrdinalEncoder TargetEncoder "
        "ColumnTransformer FeatureUnion FeatureHasher DictVectorizer CountVectorizer HashingVectorizer "
        "TfidfTransformer TfidfVectorizer SimpleImputer KNNImputer MissingIndicator "
        "MultiLabelBinarizer KernelCenterer PatchExtractor GaussianRandomProjection SparseRandomProjection RandomTreesEmbedding",
        _TABLES + "; other transformers stand before an estimator of `fwdsl.sklearn` in a `Pipeline`",
    ),
    *alike(
        _S,
        "Pipeline OneVsOneClassifier OneVsRestClassifier OutputCodeClassifier MultiOutputClassifier "
        "MultiOutputRegressor ClassifierChain RegressorChain CalibratedClassifierCV "
        "FixedThresholdClassifier TunedThresholdClassifierCV TransformedTargetRegressor FrozenEstimator "
        "SelectFromModel RFE RFECV SequentialFeatureSelector SelectKBest SelectPercentile SelectFdr SelectFpr "
        "SelectFwe GenericUnivariateSelect VarianceThreshold BaggingClassifier BaggingRegressor VotingClassifier "
        "VotingRegressor StackingClassifier StackingRegressor AdaBoostClassifier AdaBoostRegressor "
        "SelfTrainingClassifier "
        "RANSACRegressor",
        "it works around an estimator: `FwRegressor` and `FwClassifier` of `fwdsl.sklearn` stand in it",
    ),
    *out(
        _S,
        "no program",
        "RandomForestClassifier RandomForestRegressor ExtraTreesClassifier ExtraTreesRegressor "
        "ExtraTreeClassifier ExtraTreeRegressor DecisionTreeClassifier DecisionTreeRegressor "
        "GradientBoostingClassifier GradientBoostingRegressor HistGradientBoostingClassifier "
        "HistGradientBoostingRegressor IsolationForest KNeighborsClassifier KNeighborsRegressor "
        "KNeighborsTransformer NearestCentroid "
        "NearestNeighbors RadiusNeighborsClassifier RadiusNeighborsRegressor RadiusNeighborsTransformer "
        "NeighborhoodComponentsAnalysis LocalOutlierFactor KernelDensity GaussianNB BernoulliNB MultinomialNB "
        "ComplementNB "
        "CategoricalNB GaussianProcessClassifier GaussianProcessRegressor DummyClassifier DummyRegressor "
        "LinearDiscriminantAnalysis QuadraticDiscriminantAnalysis Lars LarsCV LabelPropagation LabelSpreading "
        "TheilSenRegressor",
    ),
    *out(
        _S,
        "not convex",
        "KMeans MiniBatchKMeans BisectingKMeans DBSCAN HDBSCAN OPTICS Birch MeanShift AffinityPropagation "
        "AgglomerativeClustering FeatureAgglomeration SpectralClustering SpectralBiclustering "
        "SpectralCoclustering "
        "GaussianMixture BayesianGaussianMixture MLPClassifier MLPRegressor BernoulliRBM DictionaryLearning "
        "MiniBatchDictionaryLearning SparseCoder SparsePCA MiniBatchSparsePCA FastICA FactorAnalysis "
        "LatentDirichletAllocation TSNE MDS ClassicalMDS "
        "Isomap LocallyLinearEmbedding SpectralEmbedding CCA PLSCanonical PLSRegression PLSSVD ARDRegression "
        "BayesianRidge OrthogonalMatchingPursuit OrthogonalMatchingPursuitCV",
    ),
    *alike(
        _S,
        "NMF MiniBatchNMF PCA IncrementalPCA KernelPCA TruncatedSVD",
        "factors of a matrix are not convex in both; a matrix of low rank is: `sum_squares(X - A) + mu * norm_nuc(X)`",
    ),
    *alike(
        _S,
        "EmpiricalCovariance ShrunkCovariance LedoitWolf OAS MinCovDet EllipticEnvelope",
        "a covariance is computed from data without a program; bind it as `data S: psd[d]`",
    ),
)
