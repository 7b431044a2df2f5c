// Go has nothing to look for here: not in node_modules either.
module github.com/fairlead-dev/fairlead/backstage

go 1.26
