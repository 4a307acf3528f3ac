package tpch

import "strings"

var (
	regions = strings.Split("AFRICA,AMERICA,ASIA,EUROPE,MIDDLE EAST", ",")
	// nations are followed by their region.
	nations = strings.Split("ALGERIA0,ARGENTINA1,BRAZIL1,CANADA1,EGYPT4,ETHIOPIA0,FRANCE3,"+
		"GERMANY3,INDIA2,INDONESIA2,IRAN4,IRAQ4,JAPAN2,JORDAN4,KENYA0,MOROCCO0,MOZAMBIQUE0,PERU1,"+
		"CHINA2,ROMANIA3,SAUDI ARABIA4,VIETNAM2,RUSSIA3,UNITED KINGDOM3,UNITED STATES1", ",")
	segments     = strings.Fields("AUTOMOBILE BUILDING FURNITURE HOUSEHOLD MACHINERY")
	priorities   = strings.Split("1-URGENT,2-HIGH,3-MEDIUM,4-NOT SPECIFIED,5-LOW", ",")
	instructions = strings.Split("COLLECT COD,DELIVER IN PERSON,NONE,TAKE BACK RETURN", ",")
	modes        = strings.Fields("AIR FOB MAIL RAIL REG_AIR SHIP TRUCK")
	kinds        = [3][]string{
		strings.Fields("STANDARD SMALL MEDIUM LARGE ECONOMY PROMO"),
		strings.Fields("ANODIZED BURNISHED PLATED POLISHED BRUSHED"),
		strings.Fields("TIN NICKEL BRASS STEEL COPPER")}
	containers = [2][]string{strings.Fields("SM LG MED JUMBO WRAP"),
		strings.Fields("CASE BOX BAG JAR PKG PACK CAN DRUM")}
	colours = strings.Fields(`almond antique aquamarine azure beige bisque black blanched blue
		blush brown burlywood burnished chartreuse chiffon chocolate coral cornflower cornsilk cream
		cyan dark deep dim dodger drab firebrick floral forest frosted gainsboro ghost goldenrod
		green grey honeydew hot indian ivory khaki lace lavender lawn lemon light lime linen magenta
		maroon medium metallic midnight mint misty moccasin navajo navy olive orange orchid pale
		papaya peach peru pink plum powder puff purple red rose rosy royal saddle salmon sandy
		seashell sienna sky slate smoke snow spring steel tan thistle tomato turquoise violet wheat
		white yellow`)
	// sentence is the kinds of words of which comments are made, by turns. "special" and "requests"
	// are there more than once: about one order in a hundred is to have both, for query 13.
	sentence = [4][]string{
		strings.Fields(`furious sly careful blithe quick fluffy slow quiet ruthless thin close
			dogged daring brave stealthy permanent enticing idle busy regular final
			ironic even bold silent special special pending express unusual`),
		strings.Fields(`packages requests requests requests accounts deposits foxes ideas
			theodolites pinto_beans instructions dependencies excuses platelets
			asymptotes courts dolphins multipliers sauternes warthogs frets dinos
			attainments somas patterns forges braids hockey_players frays warhorses
			dugouts notornis epitaphs pearls tithes waters orbits gifts sheaves depths
			sentiments decoys realms pains grouches escapades`),
		strings.Fields(`sleep wake are cajole haggle nag use boost affix detect integrate maintain
			nod was lose sublate solve thrash promise engage hinder print x-ray breach
			eat grow impress mold poach serve run dazzle snooze doze unwind kindle play
			hang believe doubt`),
		strings.Fields(`about above according_to across after against along alongside_of among
			around at atop before behind beneath beside besides between beyond by
			despite during except for from in_place_of inside instead_of into near of on
			outside over past since through throughout to toward under until up upon
			without with within`),
	}
)
