package builtin

import "slices"

// functionTable lists the functions by topic.
func functionTable() []def {
	return slices.Concat(
		textFunctions, textFormatFunctions, likeFunctions, regexFunctions, mathFunctions(),
		datetimeFunctions, formattingFunctions, arrayFunctions(), jsonFunctions(), setFunctions,
		systemFunctions(), transactionFunctions(), sequenceFunctions(),
		advisoryFunctions(), observerFunctions(),
		deadLetterFunctions(), takeFunctions(), backupFunctions(), backendFunctions(),
		counterFunctions(),
		identityFunctions(), sequenceParameterFunctions(), notifyFunctions(),
		bitFunctions, enumFunctions, catalogFunctions, catalogSets, informationFunctions,
		inetFunctions, macFunctions, timeTZFunctions, moneyFunctions,
		geometryFunctions, rangeFunctions(), connectionFunctions, jsonPathFunctions(),
		largeObjectFunctions(), xmlFunctions, viewFunctions(), recoveryFunctions(),
		storageFunctions(), unicodeFunctions, nullCounts,
		withdrawnFunctions,
	)
}

// operatorTable lists the operators by topic.
func operatorTable() []def {
	return slices.Concat(
		intOperators(), floatOperators(), numericOperators(), datetimeOperators(),
		comparisonOperators(), textOperators(), likeOperators, regexOperators, arrayOperators(),
		jsonOperators(), bitOperators, inetOperators, macOperators, patternOrder(),
		geometryOperators(), timeTZOperators, moneyOperators, rangeOperators(), accessOperators,
		jsonPathOperators, imageOperators(),
	)
}

// aggregateTable lists the aggregates by topic.
func aggregateTable() []aggDef {
	return slices.Concat(basicAggregates(), collectAggregates, statisticAggregates(),
		bitAggregates, moneyAggregates, rangeAggregates, orderedSetAggregates, jsonAggregates,
		xmlAggregates)
}
