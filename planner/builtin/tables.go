package builtin

// functionTables lists the functions by topic.
func functionTables() [][]def {
	return [][]def{
		textFunctions, textFormatFunctions, likeFunctions, regexFunctions, mathFunctions(),
		datetimeFunctions, formattingFunctions, arrayFunctions(), jsonFunctions(), setFunctions,
		systemFunctions(), sequenceFunctions(), advisoryFunctions(), blockingFunctions(),
		observerFunctions(), deadLetterFunctions(), backendFunctions(), notifyFunctions(),
		catalogFunctions, catalogSets,
	}
}

// operatorTables lists the operators by topic.
func operatorTables() [][]def {
	return [][]def{
		intOperators(), floatOperators(), numericOperators(), datetimeOperators(),
		comparisonOperators(), textOperators(), likeOperators(), regexOperators(), arrayOperators(),
		jsonOperators(),
	}
}

// aggregateTables lists the aggregates by topic.
func aggregateTables() [][]aggDef {
	return [][]aggDef{basicAggregates(), collectAggregates, statisticAggregates(),
		orderedSetAggregates, jsonAggregates}
}
