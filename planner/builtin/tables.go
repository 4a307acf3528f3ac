package builtin

// functionTables lists the functions by theme.
func functionTables() [][]def {
	return [][]def{
		textFunctions, textFormatFunctions, likeFunctions, regexFunctions, mathFunctions(),
		datetimeFunctions, formattingFunctions, arrayFunctions(), jsonFunctions(), setFunctions,
		systemFunctions(), sequenceFunctions(), advisoryFunctions(), blockingFunctions(),
		backendFunctions(), notifyFunctions(),
		catalogFunctions, catalogSets,
	}
}

// operatorTables lists the operators by theme.
func operatorTables() [][]def {
	return [][]def{
		intOperators(), floatOperators(), numericOperators(), datetimeOperators(),
		comparisonOperators(), textOperators(), likeOperators(), regexOperators(), arrayOperators(),
		jsonOperators(),
	}
}
