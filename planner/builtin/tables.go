package builtin

import "slices"

// functionTable lists the functions by topic.
func functionTable() []def {
	return slices.Concat(
		textFunctions, textFormatFunctions, likeFunctions, regexFunctions, mathFunctions(),
		datetimeFunctions, formattingFunctions, arrayFunctions(), jsonFunctions(), setFunctions,
		systemFunctions(), sequenceFunctions(), advisoryFunctions(), observerFunctions(),
		deadLetterFunctions(), takeFunctions(), backendFunctions(), notifyFunctions(),
		catalogFunctions, catalogSets,
	)
}

// operatorTable lists the operators by topic.
func operatorTable() []def {
	return slices.Concat(
		intOperators(), floatOperators(), numericOperators(), datetimeOperators(),
		comparisonOperators(), textOperators(), likeOperators, regexOperators, arrayOperators(),
		jsonOperators(),
	)
}

// aggregateTable lists the aggregates by topic.
func aggregateTable() []aggDef {
	return slices.Concat(basicAggregates(), collectAggregates, statisticAggregates(),
		orderedSetAggregates, jsonAggregates)
}
