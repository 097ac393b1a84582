package cli

import (
	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
)

func (e *env) configCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "config", Short: "Show each setting with its origin and default", Args: e.noArgs,
		Long: `Show each setting, where its value comes from, and its default.

A flag wins over the environment, that over the file, that over the default.
The file is --config, else WEIR_CONFIG, else weir/weir.toml in the user's
configuration folder, else /etc/weir/weir.toml. Passwords are masked.`,
	}
	c.RunE = e.run(func(cmd *cobra.Command, _ []string) error {
		source := e.source(cmd)
		_, values, err := app.Load(source)
		for _, v := range app.ClientValues(source) {
			if v.Name == "token" {
				v.Value = app.MaskToken(v.Value)
			}
			values = append(values, v)
		}
		if printed := configListing.print(e.output(), values); printed != nil {
			return printed
		}
		return err // what is wrong, after what could be read
	})
	settingFlags(c, false)
	return c
}

var configListing = listing[app.Value]{
	name: func(v app.Value) string { return v.Name },
	columns: []column[app.Value]{
		{title: "SETTING", value: func(_ *output, v app.Value) string { return v.Name }},
		{title: "VALUE", value: func(_ *output, v app.Value) string { return v.Value }},
		{title: "ORIGIN", value: func(_ *output, v app.Value) string { return v.Origin }},
		{title: "DEFAULT", value: func(_ *output, v app.Value) string { return v.Default }},
		{title: "VARIABLE", wide: true, value: func(_ *output, v app.Value) string { return v.Variable }},
		{title: "MEANING", wide: true, value: func(_ *output, v app.Value) string { return v.Help }},
	},
}
